// What the views have in common: the head, the dates, and the table of trades.

import { address, begin, dayBefore, link } from "./address.js";
import { copyButton, explorerLink, icon, make, shortened } from "./elements.js";
import { ago, amount, date, duration, side, signed, usd } from "./formats.js";
import { favourites, setFavourite, state } from "./state.js";

const SIDES = { "": "buys and sells", buy: "buys", sell: "sells" };
const VALUES = [["", "any value"], ["0.1", "0.1 or more"], ["1", "1 or more"], ["10", "10 or more"], ["100", "100 or more"]];

// What a table of trades may be filtered by.
export const filters = (chain) => ({ transaction_type: ["side", SIDES], min_value: [`value in ${state.meta.currencies[chain]}`, VALUES] });

// Two dates, as the address has them.
export function dates() {
  const { values } = address();
  const fields = ["from", "to"].map((name) => make("input", { type: "date", name, max: dayBefore(0), value: values.get(name) ?? "" }));
  const form = make("form", { className: "controls" },
    make("label", {}, "From", fields[0]), make("label", {}, "to", fields[1]), make("button", {}, "Show"));
  form.onsubmit = (event) => {
    event.preventDefault();
    begin(["after", "period"], Object.fromEntries(fields.map(({ name, value }) => [name, value])));
  };
  return form;
}

// The head of a wallet or a token: its picture, name and address, links out, and whether it is a favourite.
export function heading(chain, id, kind, links, controls = null) {
  const { path } = address();
  const star = make("input", { type: "checkbox", checked: path in favourites() });
  star.onchange = () => setFavourite(path, star.checked && document.querySelector("#view h1").textContent);
  return make("div", { className: "title" }, make("span", { id: "picture" }, icon(id, 28)), make("h1", {}, shortened(id)),
    make("small", {}, kind), make("code", {}, id), make("div", { className: "links" }, copyButton(id, "the address"), make("label", {}, star, "Favourite"), ...links,
      make("span", { id: "profile", className: "links" })), controls);
}

export function favouriteLinks() {
  const links = Object.entries(favourites()).map(([path, name]) => make("a", { href: `#${path}` }, name));
  return links.length ? make("p", { className: "words links" }, "Favourites", ...links) : null;
}

// When a trade was, with a link to its transaction.
export const when = (chain) => (trade) => explorerLink(chain, "transaction", trade.tx_signature, ago(trade.created_at)) ?? ago(trade.created_at);

export const tradeColumns = (chain, about) => [
  ["When", "", when(chain), ""],
  ["Side", "transaction_type", side, ""],
  about,
  ["Tokens", "token_amount", amount, "n wide"],
  [`Value, ${state.meta.currencies[chain]}`, "value", amount],
  ["Value, $", "value_usd", usd, "n wide"],
  [`Profit, ${state.meta.currencies[chain]}`, "realized_pnl", signed, "n wide"],
];

// A profit in a token, with a link to the trades that made it.
export const explained = ({ blockchain, type, wallet_address: wallet }, mint, profit) =>
  make("a", { href: link("position", blockchain, type, wallet, mint), className: "why", title: "Trade by trade" }, signed(profit));

// Older trades were not read, so that the figures hold from then on; while they are being read, until when.
export function knownSince({ history_since: from, history_until: until } = {}) {
  if (!from) return "as imported";
  const read = (moment) => duration((Date.parse(moment) - Date.parse(from)) / 1000);
  return until ? `${date(from)}, ${read(until)} of ${read(new Date())} read` : date(from);
}
