// The page at /: boards, wallets and tokens. The address names the view; each block of it is from documented requests.

import { address, link, onAddress, settle } from "./address.js";
import { account } from "./account.js";
import { onFailure } from "./block.js";
import { SORTS, SPANS, board, groups, isEmpty } from "./board.js";
import { $, words } from "./elements.js";
import { since } from "./formats.js";
import { repaint } from "./plots.js";
import { position } from "./position.js";
import { request } from "./requests.js";
import { find } from "./search.js";
import { POLL_SECONDS, forgetKey, keepKey, state } from "./state.js";
import { token } from "./token.js";
import { beside, boardLink, entitle } from "./views.js";
import { wallet } from "./wallet.js";

const THEME = "wallet-api.theme";
let aside = [];
let asideOf = "";
let shownPath = null;

// --- The view that the address names ---

function view() {
  const { name, parts: [chain, ...rest], values } = address();
  const known = Object.keys(groups());
  const isGroup = known.includes(`${chain}/${rest[0]}`);
  if (name === "key") return account();
  if (name === "token" && state.meta.chains.includes(chain) && rest[0]) {
    if (!state.group.startsWith(`${chain}/`)) state.group = known.find((own) => own.startsWith(`${chain}/`));
    return token(chain, rest[0]);
  }
  state.group = isGroup ? `${chain}/${rest[0]}` : known.find((own) => groups()[own]) ?? known[0];
  if (name === "wallet" && isGroup && rest[1]) return wallet(chain, ...rest);
  if (name === "position" && isGroup && rest[2]) return position(chain, ...rest);
  const pick = (all, own, usual) => (Object.hasOwn(all, own ?? "") ? own : usual);
  const [period, sort] = [pick(SPANS, rest[1], "7d"), pick(SORTS, rest[2], "realized_pnl")];
  // The first wallets may be of another group.
  if (!isEmpty()) settle(link("board", state.group, period, sort) + (name === "board" && values.size ? `?${values}` : ""));
  return board(...state.group.split("/"), period, sort);
}

async function route() {
  if (location.hash === "#main") return;
  if (!state.key) return askForKey("");
  showForm(false);
  if (state.blocks.length && shownPath === viewPath()) {
    for (const block of state.blocks) block.reroute();
    return;
  }
  state.leaving.abort();
  const { signal } = (state.leaving = new AbortController());
  state.polledAt = Date.now();
  say();
  try {
    await prepare(signal);
  } catch (error) {
    if (!signal.aborted) say(`${error.message} This is tried again every ${POLL_SECONDS} seconds.`);
    leave();
    return;
  }
  if (!signal.aborted) show();
}

// The order of a board changes its table as a whole, and dates several blocks; all else that is chosen belongs to a block.
const viewPath = () => [address().path, ...["order", "from", "to"].map((name) => address().values.get(name) ?? "")].join(" ");

// Fetch what each view needs, once.
async function prepare(signal) {
  const [meta, help] = await Promise.all([
    state.meta ?? request("v1/meta", { signal }).then(({ data }) => data),
    Object.keys(state.help).length ? state.help : request("page/figures.json", { signal }).then(({ data }) => data),
  ]);
  Object.assign(state, { meta, help });
}

function leave() {
  state.blocks = [];
  asideOf = "";
  shownPath = null;
}

function show() {
  const [title, ...shown] = view().filter(Boolean);
  shownPath = viewPath();
  if ($("main").contains(document.activeElement)) $("main").focus();
  $("view").replaceChildren(title, ...shown.map((block) => block.element ?? block));
  entitle(title.querySelector("h1").textContent);
  if (asideOf !== state.group) {
    aside = beside(...state.group.split("/"));
    $("beside").replaceChildren(...aside.map((block) => block.element));
  }
  asideOf = state.group;
  for (const block of aside) block.reroute();
  state.blocks = [...shown.filter((block) => block.element), ...aside];
  poll();
}

// Say once why the view cannot be shown; only another address changes that.
function giveUp(message) {
  $("view").replaceChildren($("view").firstElementChild, words(message, "words loss"), boardLink());
  state.blocks = [...aside];
}

// Go to the first wallets as soon as there are any.
async function recount() {
  state.meta = (await request("v1/meta", { signal: state.leaving.signal })).data;
  if (!isEmpty()) {
    leave();
    route();
  }
}

export function poll() {
  state.polledAt = Date.now();
  if (!state.blocks.length) return route();
  if (isEmpty()) recount().catch(() => {});
  for (const block of state.blocks) if (block.isDue()) block.refresh();
  for (const time of document.querySelectorAll("time")) time.textContent = since(time.dateTime);
}

function tick() {
  if ($("main").hidden || document.hidden) return;
  const now = Date.now();
  if (now >= state.pausedUntil && now >= state.polledAt + 1000 * POLL_SECONDS) poll();
  for (const block of state.blocks) block.tick();
}

// --- Key, search, colors ---

function showForm(isShown) {
  $("ask").hidden = !isShown;
  for (const part of ["main", "search", "own"]) $(part).hidden = isShown;
}

export function askForKey(message) {
  state.leaving.abort();
  leave();
  forgetKey();
  for (const part of ["view", "beside", "said"]) $(part).replaceChildren();
  showForm(true);
  $("refused").textContent = message;
  $("key").focus();
}

function say(...content) {
  $("said").replaceChildren(...content);
}

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (darkSystem.matches ? "dark" : "light")) === "dark";

function paint(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  $("theme").textContent = isDark() ? "Light" : "Dark";
  repaint();
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  keepKey($("key").value.trim(), $("remember").checked);
  $("key").value = "";
  route();
});
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("sought").value.trim();
  if (text && state.key && state.meta) find(text).then((found) => say(...found), (error) => say(error.message));
});
$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("main").focus();
});
$("forget").addEventListener("click", () => askForKey(""));
$("theme").addEventListener("click", () => {
  localStorage.setItem(THEME, isDark() ? "light" : "dark");
  paint(localStorage.getItem(THEME));
});
darkSystem.addEventListener("change", () => paint());
addEventListener("keydown", (event) => {
  if (event.key === "Escape") say();
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  $("sought").focus();
});
document.addEventListener("visibilitychange", tick);
setInterval(tick, 1000);
onAddress(route);
onFailure({ askForKey, giveUp });
paint(localStorage.getItem(THEME));
route();
