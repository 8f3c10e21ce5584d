// Elements. Texts of tokens and wallets are written by strangers: they become text nodes alone.

import { link } from "./address.js";
import { state } from "./state.js";

// What the service has written into the page: beginnings of addresses by chain and kind, and hosts of pictures.
const [explorers, imageHosts] = ["explorers", "imageHosts"].map((name) => JSON.parse(document.body.dataset[name]));

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function draw(d, attributes) {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries({ ...attributes, "aria-hidden": true })) svg.setAttribute(name, value);
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
}

// A picture made of an address: five by five squares, left and right alike.
export function icon(address, size = 20) {
  let hash = 2166136261;
  for (const character of address) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619) >>> 0;
  let squares = "";
  for (let place = 0; place < 15; place++) {
    const [x, y] = [Math.floor(place / 5), place % 5];
    if ((hash >>> place) & 1) squares += `M${x} ${y}h1v1h-1z` + (x < 2 ? `M${4 - x} ${y}h1v1h-1z` : "");
  }
  return draw(squares, { viewBox: "0 0 5 5", width: size, height: size, fill: `hsl(${(hash >>> 15) % 360} 60% 50%)` });
}

// A picture of a stranger, from a host that the operator allows alone; else one made of the address.
export function picture(address, url, size) {
  const host = URL.canParse(url ?? "") ? new URL(url) : null;
  if (host?.protocol !== "https:" || !imageHosts.includes(host.hostname)) return icon(address, size);
  return make("img", { src: url, alt: "", width: size, height: size, loading: "lazy", referrerPolicy: "no-referrer" });
}

// How a sum grew, with its zero.
export function spark({ values }) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const [width, height, viewBox] = [84, 24, `0 ${-high} ${values.length - 1 || 1} ${high - low || 1}`];
  const points = values.map((value, place) => `${place} ${-value}`);
  return draw(`M${points.join("L")}`, { class: `spark ${values.at(-1) < 0 ? "loss" : "gain"}`, viewBox, width, height, preserveAspectRatio: "none" });
}

export const words = (text, className = "words") => make("p", { className }, text);
export const pair = (first, second) => make("div", {}, first, second && make("small", {}, second));

export function entitle(text) {
  document.querySelector("#view h1").textContent = text;
  document.title = `${text} · Wallet Intelligence`;
}

// --- Links ---

export const shortened = (address) => (address.length > 16 ? `${address.slice(0, 4)}…${address.slice(-4)}` : address);
export const titleOf = ({ token_name: name, symbol, mint }) => [name, symbol].filter(Boolean).join(" · ") || shortened(mint);
const who = (href, address, name) => make("a", { href, className: "who", title: address }, icon(address), name || shortened(address));
export const toWallet = (profile) => link("wallet", profile.blockchain, profile.type, profile.wallet_address);
export const walletLink = (profile) => who(toWallet(profile), profile.wallet_address, profile.name);
export const tokenLink = (chain) => (token) => who(link("token", chain, token.mint), token.mint, token.token_name || token.symbol);

export const outLink = (href, text, title = text) => (href?.startsWith("https://")
  ? make("a", { href, title, target: "_blank", rel: "noopener noreferrer", className: "out" }, text) : null);

// What a chain has: addresses and hashes of EVM chains, addresses and signatures of Solana, and blocks.
const IDS = {
  wallet: /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, transaction: /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/, block: /^\d+$/,
};

// A link to a page about a wallet, token, transaction or block, or to a chart; null for an id of another form.
export function explorerLink(chain, kind, id, text) {
  const start = explorers[chain]?.[kind];
  return start && (IDS[kind] ?? IDS.wallet).test(id) ? outLink(start + id, text, `${kind} ${id}`) : null;
}

// Browsers copy for a page that came by https, or from this machine.
export const copyButton = (text, label) => (navigator.clipboard ? make("button", {
  type: "button", className: "small", ariaLabel: `Copy ${label}`,
  onclick: (event) => navigator.clipboard.writeText(text).then(() => (event.target.textContent = "Copied")),
}, "Copy") : null);

// --- Tables ---

// Columns are [head, path of the value in a row, how it is shown (with the row), class, sort]; an empty path is the row itself.
export const read = (row, path) => (path ? path.split(".").reduce((value, name) => value?.[name], row) : row);
const helpOf = (path) => state.help[path.split(".").at(-1)] ?? "";

// A head sorts where its column names a sort; `sorting` is { sort, order, choose(sort, order) }.
function head([text, path, , className = "n", sort], sorting) {
  const cell = make("th", { className, scope: "col", title: helpOf(path) });
  const order = sort && sort === sorting?.sort ? sorting.order : "";
  const onclick = () => sorting.choose(sort, order === "desc" ? "asc" : "desc");
  if (order) cell.ariaSort = `${order}ending`;
  cell.append(sort && sorting ? make("button", { type: "button", onclick }, text + { "": "", asc: " ↑", desc: " ↓" }[order]) : text);
  return cell;
}

export function table(columns, rows, empty, sorting = null) {
  if (!rows.length) return words(empty);
  const cells = (row) => columns.map(([, path, show, className = "n"]) => make("td", { className }, show(read(row, path), row)));
  return make("table", {}, make("thead", {}, make("tr", {}, ...columns.map((column) => head(column, sorting)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row)))));
}

// Figures are columns of one row, beneath each other.
export function figures(columns, row = {}) {
  const show = ([text, path, show]) => make("div", { title: helpOf(path) }, make("dt", {}, text), make("dd", {}, show(read(row, path))));
  return make("dl", {}, ...columns.map(show));
}

// Options are an object, or a list of pairs where the values are numbers, which an object would sort.
export function chooser(label, options, chosen, choose, isNamed = false) {
  const pairs = Array.isArray(options) ? options : Object.entries(options);
  const select = make("select", { ariaLabel: label, onchange: () => choose(select.value) },
    ...pairs.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
  return make("label", {}, isNamed ? label : null, select);
}
