// What the views have in common: the head, the table of trades, and the blocks beside each view.

import { address, choose, link } from "./address.js";
import { Block } from "./block.js";
import { copyButton, explorerLink, icon, make, pair, picture, shortened, table, tokenLink, walletLink } from "./elements.js";
import { ago, amount, count, date, duration, side, signed, usd } from "./formats.js";
import { requestPath } from "./requests.js";
import { favourites, setFavourite, state } from "./state.js";

const MODES = { cluster: "bought together", entry: "new to all", exit: "left" };
const HOURS = [["24", "24 hours"], ["1", "an hour"], ["6", "6 hours"], ["72", "3 days"], ["168", "a week"]];
const WALLETS = [["", "usual wallets"], ["2", "2 wallets"], ["3", "3 wallets"], ["5", "5 wallets"], ["10", "10 wallets"]];
const SIDES = { "": "buys and sells", buy: "buys", sell: "sells" };
const VALUES = [["", "any value"], ["0.1", "0.1 or more"], ["1", "1 or more"], ["10", "10 or more"], ["100", "100 or more"]];
export { MODES };

// What a table of trades may be filtered by.
export const filters = (chain) => ({
  transaction_type: { label: "side", options: SIDES }, min_value: { label: `value in ${state.meta.currencies[chain]}`, options: VALUES },
});

export function entitle(text) {
  document.querySelector("#view h1").textContent = text;
  document.title = `${text} · Wallet Intelligence`;
}

// Two dates, as the address has them. The pages of another window are others.
export function dates() {
  const { values } = address();
  const today = new Date().toISOString().slice(0, 10);
  const fields = ["from", "to"].map((name) => make("input", { type: "date", name, max: today, value: values.get(name) ?? "" }));
  return make("form", {
    className: "controls",
    onsubmit(event) {
      event.preventDefault();
      const pages = [...values.keys()].filter((name) => name.endsWith(".after"));
      choose(Object.fromEntries([...fields.map(({ name, value }) => [name, value]), ...pages.map((name) => [name, ""])]));
    },
  }, make("label", {}, "From", fields[0]), make("label", {}, "to", fields[1]), make("button", {}, "Show"));
}

// The head of a wallet or a token: its picture, name and address, links out, and whether it is a favourite.
export function heading(chain, id, kind, links, controls = null) {
  const star = make("button", { type: "button", className: "small" });
  const paint = () => {
    const isKept = address().path in favourites();
    star.textContent = isKept ? "★ Favourite" : "☆ Favourite";
    star.ariaPressed = String(isKept);
  };
  star.onclick = () => {
    const { path } = address();
    setFavourite(path, path in favourites() ? "" : document.querySelector("#view h1").textContent);
    paint();
  };
  paint();
  return make("div", { className: "title" }, make("span", { id: "picture" }, icon(id, 28)), make("h1", {}, shortened(id)),
    make("small", {}, kind), make("code", {}, id), make("div", { className: "links" }, copyButton(id, "the address"), star, ...links,
      make("span", { id: "profile", className: "links" })), controls);
}

// Show the picture and the links of a profile, or of a token's face.
export function face(id, url, links = []) {
  document.querySelector("#picture")?.replaceChildren(picture(id, url, 28));
  document.querySelector("#profile")?.replaceChildren(...links.filter(Boolean));
}

export const favouriteLinks = () => {
  const links = Object.entries(favourites()).map(([path, name]) => make("a", { href: `#${path}` }, name));
  return links.length ? make("p", { className: "words links" }, "Favourites", ...links) : null;
};

export const tradeColumns = (chain, about) => [
  ["When", "", (trade) => explorerLink(chain, "transaction", trade.tx_signature, ago(trade.created_at)) ?? ago(trade.created_at), ""],
  ["Side", "transaction_type", side, ""],
  about,
  ["Tokens", "token_amount", amount, "n wide"],
  [`Value, ${state.meta.currencies[chain]}`, "value", amount],
  ["Value, $", "value_usd", usd, "n wide"],
  [`Profit, ${state.meta.currencies[chain]}`, "realized_pnl", signed, "n wide"],
];

// The signals and the newest trades of the group.
export function beside(chain, type) {
  const currency = state.meta.currencies[chain];
  const newest = new Block("Newest trades", {
    id: "newest",
    choosers: filters(chain),
    paths: [({ values: { transaction_type, min_value } }) =>
      requestPath("transactions/latest", { blockchain: chain, type, transaction_type, min_value, limit: 25 })],
    show: ({ transactions }) => table([
      ["Wallet", "", (trade) => pair(walletLink(trade.profile), ago(trade.created_at)), ""],
      ["Token", "", (trade) => pair(tokenLink(chain)(trade), make("span", {}, side(trade.transaction_type), ` ${amount(trade.value)} ${currency}`))],
    ], transactions, "No trade yet."),
    rows: 20.5, fixed: true,
  });
  const signals = new Block("Signals", {
    id: "signals",
    choosers: {
      mode: { label: "kind", options: MODES }, hours: { label: "window", options: HOURS }, min_wallets: { label: "least", options: WALLETS },
    },
    paths: [({ values: { mode, hours, min_wallets } }) =>
      requestPath("signals", { blockchain: chain, type, mode, hours, min_wallets, limit: 20, include_wallets: false })],
    show: ({ signals: found, hours }) => table([
      ["Token", "", (signal) => pair(tokenLink(chain)(signal.token), `${count(signal.window.wallet_count)} wallets, ${signal.signal_strength}`), ""],
      ["Net flow", "token_stats.net_flow", (flow) => pair(signed(flow), `${currency}, ${hours} h`)],
    ], found, `No signal in ${hours} hours.`),
    rows: 14.5, fixed: true, follows: newest,
  });
  return [signals, newest];
}

// A profit in a token, with a link to the trades that made it.
export const explained = (profile, mint, profit) => make("a", {
  href: link("position", profile.blockchain, profile.type, profile.wallet_address, mint), className: "why", title: "Trade by trade",
}, signed(profit));

// Older trades were not read, so that the figures hold from then on; while they are being read, until when.
export function knownSince({ history_since: from, history_until: until } = {}) {
  if (!from) return "as imported";
  const read = (moment) => duration((Date.parse(moment) - Date.parse(from)) / 1000);
  return until ? `${date(from)}, ${read(until)} of ${read(new Date())} read` : date(from);
}

export const boardLink = () => make("a", { href: link("board") }, "Back to the board");
