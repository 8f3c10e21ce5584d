// The page at /: boards, wallets and tokens. The address names the view; each block of it is from documented requests.

import { address, link } from "./address.js";
import { account } from "./account.js";
import { beside } from "./beside.js";
import { board, groups, isEmpty, isOwn } from "./board.js";
import { $, entitle, make, words } from "./elements.js";
import { since } from "./formats.js";
import { repaint } from "./plots.js";
import { position } from "./position.js";
import { request } from "./requests.js";
import { find } from "./search.js";
import { POLL_SECONDS, keepKey, state } from "./state.js";
import { token } from "./token.js";
import { wallet } from "./wallet.js";

const THEME = "wallet-api.theme";
let aside = { group: "", blocks: [] };
let shownView = null;

// --- The view that the address names ---

// The group is that of the address, or else one of the chain, or the first one of the key that has wallets.
function view() {
  const { name, parts: [chain, ...rest] } = address();
  const known = Object.keys(groups());
  const named = known.find((group) => group === `${chain}/${rest[0]}`);
  state.group = named ?? [state.group, ...known].find((group) => group.startsWith(`${chain}/`))
    ?? known.filter(isOwn).find((group) => groups()[group]) ?? known.find(isOwn);
  if (name === "key") return account();
  if (name === "token" && state.meta.chains.includes(chain) && rest[0]) return token(chain, rest[0]);
  if (name === "wallet" && named && rest[1]) return wallet(chain, ...rest);
  if (name === "position" && named && rest[2]) return position(chain, ...rest);
  return board(...state.group.split("/"));
}

// Dates are of several blocks; all else that is chosen belongs to one.
const viewOf = ({ path, values }) => [path, values.get("from"), values.get("to")].join();

async function route() {
  if (!state.key) return askForKey("");
  showForm(false);
  if (state.blocks.length && shownView === viewOf(address())) return refresh(state.blocks.filter((block) => block.path !== block.requested));
  state.leaving.abort();
  const { signal } = (state.leaving = new AbortController());
  state.polledAt = Date.now();
  say();
  try {
    // What each view needs, once.
    const read = (path) => request(path, signal).then(({ data }) => data);
    const [meta, help, { scope }] = await Promise.all([
      state.meta ?? read("v1/meta"), state.help ?? read("page/figures.json"), state.scope ? state : read("v1/key"),
    ]);
    Object.assign(state, { meta, help, scope });
  } catch (error) {
    if (signal.aborted) return;
    if (error.isOfKey) return askForKey(error.message);
    say(`${error.message} This is tried again every ${POLL_SECONDS} seconds.`);
    return leave();
  }
  if (!signal.aborted) show();
}

function leave() {
  state.blocks = [];
  aside = { group: "", blocks: [] };
}

function show() {
  const [title, ...shown] = view().filter(Boolean);
  shownView = viewOf(address());
  if ($("main").contains(document.activeElement)) $("main").focus();
  $("view").replaceChildren(title, ...shown.map((block) => block.element ?? block));
  entitle(title.querySelector("h1").textContent);
  if (aside.group !== state.group) aside = { group: state.group, blocks: beside(...state.group.split("/")) };
  $("beside").replaceChildren(...aside.blocks.map((block) => block.element));
  state.blocks = [...shown.filter((block) => block.element), ...aside.blocks];
  poll();
}

// Say once why the view cannot be shown; only another address changes that.
function giveUp(message) {
  const back = make("a", { href: link("board") }, "Back to the board");
  $("view").replaceChildren($("view").firstElementChild, words(message, "words loss"), back);
  state.blocks = aside.blocks;
}

const refresh = (blocks) => blocks.forEach((block) => block.refresh());

export function poll() {
  state.polledAt = Date.now();
  if (!state.meta || !state.blocks.length) return route();
  refresh(state.blocks.filter((block) => block.isDue()));
  for (const time of document.querySelectorAll("time")) time.textContent = since(time.dateTime);
}

function tick() {
  if ($("main").hidden || document.hidden || Date.now() < Math.max(state.pausedUntil, state.polledAt + 1000 * POLL_SECONDS)) return;
  // The first wallets may be of another group.
  if (state.meta && isEmpty()) state.meta = shownView = null;
  poll();
}

// --- Key, search, colors ---

function showForm(isShown) {
  $("ask").hidden = !isShown;
  for (const part of ["main", "search", "own"]) $(part).hidden = isShown;
}

export function askForKey(message) {
  state.leaving.abort();
  leave();
  keepKey("");
  for (const part of ["view", "beside", "said"]) $(part).replaceChildren();
  showForm(true);
  $("refused").textContent = message;
  $("key").focus();
}

const say = (...content) => $("said").replaceChildren(...content);

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function paint() {
  const colors = localStorage.getItem(THEME) ?? (darkSystem.matches ? "dark" : "light");
  document.documentElement.style.colorScheme = colors;
  $("theme").textContent = colors === "dark" ? "Light" : "Dark";
  repaint();
}

$("ask").onsubmit = (event) => {
  event.preventDefault();
  keepKey($("key").value.trim(), $("remember").checked);
  $("key").value = "";
  route();
};
$("search").onsubmit = (event) => {
  event.preventDefault();
  const text = $("sought").value.trim();
  if (text && state.meta) find(text).then((found) => say(...found), (error) => say(error.message));
};
$("skip").onclick = () => $("main").focus();
$("forget").onclick = () => askForKey("");
$("theme").onclick = () => {
  localStorage.setItem(THEME, $("theme").textContent.toLowerCase());
  paint();
};
addEventListener("keydown", (event) => {
  if (event.key === "Escape") say();
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  $("sought").focus();
});
document.addEventListener("visibilitychange", tick);
darkSystem.addEventListener("change", paint);
setInterval(tick, 1000);
addEventListener("popstate", route);
Object.assign(state, { askForKey, giveUp });
paint();
route();
