// The page at /: boards, wallets and tokens, each block of them from one documented request. The key stays in this tab.
// Texts of tokens and wallets are written by strangers: they become text nodes alone, and their images are not loaded.
"use strict";

const KEY = "wallet-api.key";
const THEME = "wallet-api.theme";
const POLL_SECONDS = 15;
const MOST_ROWS = 50;
const PERIODS = { "6h": "6 hours", "1d": "day", "7d": "7 days", "30d": "30 days", "90d": "90 days", all: "all time" };
const SORTS = {
  realized_pnl: "profit", pnl_without_best_token: "profit without its best token", realized_pnl_percentage: "profit in %",
  win_rate: "win rate", win_rate_low: "win rate, at least", profit_factor: "gains to losses", max_drawdown: "largest fall",
  total_volume: "volume", total_txn: "trades", best_trade_pnl: "best trade", active_days: "days with a trade",
};
const TRADER_SORTS = { first_buy: "first buy", buy: "bought", realized_pnl: "profit", token_amount: "held", last_trade: "last trade" };
const TOKEN_SORTS = {
  last_seen: "last trade", realized_pnl: "profit", unrealized_pnl: "unrealized", invested: "bought", open_cost: "cost of what is held",
};
const MODES = { cluster: "bought together", entry: "new to all", exit: "left" };
const ADDRESS = /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/i;

const $ = (id) => document.getElementById(id);
let key = sessionStorage.getItem(KEY) || document.body.dataset.key || "";
let meta = null;
let blocks = [];
let leaving = new AbortController();
let pausedUntil = 0;
let polledAt = 0;
let names = null;
let group = ["", ""];
let besideOf = "";

// --- Elements ---

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

function draw(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const link = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;
const shortened = (address) => (address.length > 16 ? `${address.slice(0, 4)}…${address.slice(-4)}` : address);

// A picture made of an address: five by five squares, left and right alike.
function icon(address, size = 20) {
  let hash = 2166136261;
  for (const character of address) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619) >>> 0;
  const svg = draw("svg", { viewBox: "0 0 5 5", width: size, height: size, "aria-hidden": "true" });
  let path = "";
  for (let place = 0; place < 15; place++) {
    if (!((hash >>> place) & 1)) continue;
    const [x, y] = [Math.floor(place / 5), place % 5];
    path += `M${x} ${y}h1v1h-1z` + (x < 2 ? `M${4 - x} ${y}h1v1h-1z` : "");
  }
  svg.append(draw("path", { d: path, fill: `hsl(${(hash >>> 15) % 360} 60% 50%)` }));
  return svg;
}

const who = (href, address, name) =>
  make("a", { href, className: "who", title: address }, icon(address), make("span", {}, name || shortened(address)));
const walletLink = (profile) =>
  who(link("wallet", profile.blockchain, profile.type, profile.wallet_address), profile.wallet_address, profile.name);
const tokenLink = (chain, token) => who(link("token", chain, token.mint), token.mint, token.token_name || token.symbol);

function spark(values) {
  const [width, height] = [84, 24];
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const points = values.map((value, place) => {
    const x = values.length > 1 ? (place / (values.length - 1)) * width : width;
    return `${x.toFixed(1)},${(height - 2 - ((value - low) / (high - low || 1)) * (height - 4)).toFixed(1)}`;
  });
  const className = values.at(-1) < 0 ? "spark loss" : "spark gain";
  const svg = draw("svg", { class: className, viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  svg.append(draw("polyline", { points: points.join(" ") }));
  return svg;
}

// --- Figures in words ---

const unknown = (value) => value === null || value === undefined;
const formats = {};
function format(value, options) {
  const name = JSON.stringify(options);
  return (formats[name] ??= new Intl.NumberFormat("en", options)).format(value);
}

function amount(value) {
  if (unknown(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return format(value, { notation: "compact", maximumFractionDigits: 2 });
  if (size >= 1000) return format(value, { maximumFractionDigits: 0 });
  if (size >= 1) return format(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return format(value, { maximumSignificantDigits: 3 });
}
const price = (value) => (unknown(value) ? "–" : format(value, { maximumSignificantDigits: 4 }));
const count = (value) => (unknown(value) ? "–" : format(value, {}));
const percent = (value) => (unknown(value) ? "–" : `${format(value, { maximumFractionDigits: 1 })} %`);
const usd = (value) => (unknown(value) ? "" : `${value < 0 ? "−" : ""}$${amount(Math.abs(value))}`);

// A profit has a sign and a color; a value in dollars follows where there is one.
function signed(value, show = amount, dollars = undefined) {
  if (unknown(value)) return make("span", {}, "–");
  const className = value > 0 ? "gain" : value < 0 ? "loss" : "";
  const text = `${value > 0 ? "+" : value < 0 ? "−" : ""}${show(Math.abs(value))}`;
  const extra = unknown(dollars) ? null : make("small", { className: "wide" }, ` ${usd(dollars)}`);
  return make("span", { className }, text, extra);
}

function duration(seconds) {
  for (const [name, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${name}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}
const since = (moment) => `${duration((Date.now() - Date.parse(moment)) / 1000)} ago`;
const ago = (moment) => (unknown(moment) ? "–" : make("time", { dateTime: moment, title: moment }, since(moment)));

// --- Requests ---

class Failure extends Error {
  constructor(status, message, wait = 0) {
    super(message);
    Object.assign(this, { status, wait });
    // The limit is that of the key, and so of the whole page.
    if (status === 429) pausedUntil = Date.now() + 1000 * wait;
  }
}

// Return data and ETag, or null where nothing has changed since `etag`, which is free of charge.
async function request(path, etag, signal) {
  const headers = { Authorization: `Bearer ${key}`, ...(etag && { "If-None-Match": etag }) };
  let response, body;
  try {
    response = await fetch(path, { headers, signal, cache: "no-store" });
    if (response.status === 304) return null;
    body = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(0, "The service does not respond.");
  }
  if (!response.ok) {
    const message = body.error?.message ?? `The service responded with ${response.status}.`;
    throw new Failure(response.status, message, Number(response.headers.get("Retry-After")) || 0);
  }
  return { data: body.data ?? body, etag: response.headers.get("ETag") };
}

function requestPath(operation, values) {
  const given = Object.entries(values).filter(([, value]) => !unknown(value) && value !== "");
  return `v1/${operation}?${new URLSearchParams(given)}`;
}

// --- Blocks ---

// A block shows what its paths return, each computed from the data of those before, and refreshes it while it is shown.
// One that follows another is refreshed only with it: its data has a time in it, or costs a provider's request.
class Block {
  constructor(title, {
    paths, show, rows = 0, fixed = false, kind = fixed ? "body fixed" : "body", controls = [], paged = false, follows = null,
    isPending = () => false,
  }) {
    Object.assign(this, { paths, show, follows, isPending });
    Object.assign(this, { parts: [], at: 0, failure: "", pausedUntil: 0, run: 0, cursors: [], next: null });
    this.state = make("span", { className: "state" });
    this.code = make("pre");
    const copy = make("button", { type: "button", onclick: () => this.copy() }, "Copy");
    const source = make("details", { className: "request" }, make("summary", {}, "Request"), make("div", {}, this.code, copy));
    this.body = make("div", { className: kind, tabIndex: fixed ? 0 : -1 }, make("p", { className: "words" }, "Loading …"));
    if (rows) this.body.style.setProperty("--rows-height", `${rows * 2.1}rem`);
    this.element = make("section", { className: "block", ariaLabel: title },
      make("header", {}, make("h2", {}, title), ...controls, this.state, source), this.body);
    if (paged) {
      this.before = make("button", { type: "button", disabled: true, onclick: () => this.turn(-1) }, "Previous");
      this.after = make("button", { type: "button", disabled: true, onclick: () => this.turn(1) }, "Next");
      this.element.append(make("div", { className: "pages" }, this.before, this.after));
    }
  }

  // Browsers give the clipboard to pages over TLS alone; else the text is selected.
  copy() {
    getSelection().selectAllChildren(this.code);
    navigator.clipboard?.writeText(this.code.textContent);
  }

  turn(step) {
    if (step > 0) this.cursors.push(this.next);
    else this.cursors.pop();
    this.before.disabled = this.after.disabled = true;
    this.refresh();
  }

  async refresh() {
    const { signal } = leaving;
    const run = ++this.run;
    const shown = [];
    let changed = false;
    try {
      for (const [place, pathOf] of this.paths.entries()) {
        const path = pathOf(this.cursors.at(-1) ?? "", ...shown);
        if (!path) break;
        this.cite(place, path);
        const before = this.parts[place];
        const response = await request(path, before?.path === path ? before.etag : null, signal);
        if (run !== this.run) return;
        if (response) this.parts[place] = { path, ...response };
        shown.push(this.parts[place].data);
        changed ||= Boolean(response);
      }
    } catch (error) {
      if (!signal.aborted && run === this.run) this.fail(error);
      return;
    }
    if (signal.aborted || run !== this.run) return;
    this.at = Date.now();
    if (changed || this.failure) this.display(shown);
    this.failure = "";
    this.pending = this.isPending(...shown);
    this.tick();
    if (changed) for (const block of blocks) if (block.follows === this && block.at) block.refresh();
  }

  isDue() {
    return this.pausedUntil <= Date.now() && (!this.follows || !this.at || this.pending || Boolean(this.failure));
  }

  // Show the request, without the key.
  cite(place, path) {
    const line = `curl -H "Authorization: Bearer $KEY" '${new URL(path, location.href).href}'`;
    this.code.textContent = [...this.code.textContent.split("\n").slice(0, place), line].join("\n");
  }

  display(shown) {
    const focused = this.body.contains(document.activeElement) && document.activeElement.getAttribute("href");
    const content = this.show(...shown);
    this.body.replaceChildren(...[content].flat());
    for (const chart of plots) if (!chart.root.isConnected) forgetPlot(chart);
    if (focused) [...this.body.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
    if (!this.before) return;
    this.next = shown[0].pagination?.next_cursor;
    this.before.disabled = !this.cursors.length;
    this.after.disabled = !this.next;
  }

  fail(error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 401 || error.status === 403) return askForKey(error.message);
    this.failure = error.message;
    this.pausedUntil = Date.now() + 1000 * error.wait;
    if (!this.at || error.status === 404) this.body.replaceChildren(make("p", { className: "words error" }, error.message));
    this.tick();
  }

  tick() {
    const wait = Math.ceil((Math.max(pausedUntil, this.pausedUntil, polledAt + 1000 * POLL_SECONDS) - Date.now()) / 1000);
    const age = this.at ? `updated ${duration((Date.now() - this.at) / 1000)} ago` : "";
    const problem = this.at ? `${this.failure} Last ${age}` : "Not loaded";
    this.state.textContent = this.failure ? `${problem}; next try in ${Math.max(wait, 0)} s` : age;
    this.state.classList.toggle("error", Boolean(this.failure));
  }
}

const words = (text) => make("p", { className: "words" }, text);

// Columns are [head, cell of a row, class].
function table(columns, rows, empty) {
  if (!rows.length) return words(empty);
  const heads = columns.map(([head, , className = ""]) => make("th", { scope: "col", className }, head));
  const lines = rows.map((row) => make("tr", {}, ...columns.map(([, cell, className = ""]) => make("td", { className }, cell(row)))));
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines));
}

// The first rows, and how many there are.
function first(columns, rows, empty, which) {
  const note = rows.length > MOST_ROWS ? [words(`The ${MOST_ROWS} ${which}, of ${count(rows.length)}.`)] : [];
  return [table(columns, rows.slice(0, MOST_ROWS), empty), ...note];
}

function figures(pairs) {
  const known = pairs.filter(([, value]) => !unknown(value));
  return make("dl", { className: "figures" }, ...known.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function chooser(label, options, chosen, choose, isNamed = false) {
  const entries = Object.entries(options).map(([value, text]) => make("option", { value, selected: value === chosen }, text));
  return make("label", {}, isNamed ? label : null, make("select", { ariaLabel: label, onchange: (event) => choose(event.target.value) }, ...entries));
}

// --- Plots ---

const plots = new Set();
const probe = document.body.appendChild(make("span", { hidden: true }));
function color(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

function axis(extra) {
  const lines = { stroke: () => color("line"), width: 1 };
  return { stroke: () => color("pale"), grid: lines, ticks: lines, ...extra };
}

function forgetPlot(chart) {
  chart.destroy();
  plots.delete(chart);
}

// A plot as wide as its block. It has a text for who cannot see it.
function plot(text, options, data) {
  const place = make("div", { className: "plot", role: "img", ariaLabel: text });
  const chart = new uPlot({ height: 270, width: 600, cursor: { y: false }, ...options }, data, place);
  const widths = new ResizeObserver(([entry]) => {
    if (entry.contentRect.width) chart.setSize({ width: entry.contentRect.width, height: 270 });
  });
  widths.observe(place);
  plots.add(chart);
  return place;
}

function profitPlot(calendar, currency) {
  const days = calendar.months.flatMap((month) => month.dates);
  if (!days.length) return words("No trade yet.");
  let sum = 0;
  const times = days.map((day) => Date.parse(day.date) / 1000);
  const daily = days.map((day) => day.realized_pnl);
  const total = daily.map((profit) => (sum += profit));
  const show = (self, value) => (unknown(value) ? "–" : `${amount(value)} ${currency}`);
  const bars = uPlot.paths.bars({ size: [0.7, 24] });
  const text = `Realized profit over ${days.length} days with a trade: ${amount(sum)} ${currency}.`;
  return plot(text, {
    tzDate: (seconds) => uPlot.tzDate(new Date(1000 * seconds), "Etc/UTC"),
    axes: [axis({}), axis({ size: 64, values: (self, ticks) => ticks.map(price) })],
    series: [
      { label: "day", value: "{YYYY}-{MM}-{DD}" },
      { label: "profit of the day", paths: bars, points: { show: false }, stroke: () => color("line"), fill: () => color("line"), value: show },
      { label: "in all", width: 2, points: { show: false }, stroke: () => color(sum < 0 ? "loss" : "gain"), value: show },
    ],
  }, [times, daily, total]);
}

function pricePlot(trades, currency) {
  const known = trades.filter((trade) => trade.price_per_token > 0).sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  if (!known.length) return words("No trade with a price.");
  const times = known.map((trade) => Date.parse(trade.created_at) / 1000);
  const all = known.map((trade) => trade.price_per_token);
  const only = (side) => known.map((trade) => (trade.transaction_type === side ? trade.price_per_token : null));
  const show = (self, value) => (unknown(value) ? "–" : `${price(value)} ${currency}`);
  const points = (label, name, fill) => ({
    label, paths: () => null, value: show, stroke: () => color(name),
    points: { show: true, size: 8, width: 2, stroke: () => color(name), fill: () => color(fill) },
  });
  return plot(`Prices of ${known.length} trades, from ${price(Math.min(...all))} to ${price(Math.max(...all))} ${currency}.`, {
    scales: { y: { distr: Math.max(...all) > 5 * Math.min(...all) ? 3 : 1 } },
    axes: [axis({}), axis({ size: 88, values: (self, ticks) => ticks.map((tick) => (unknown(tick) ? "" : price(tick))) })],
    series: [
      { label: "time", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" },
      { label: "price", stroke: () => color("line"), points: { show: false }, value: show },
      points("buy", "gain", "gain"), points("sell", "loss", "card"),
    ],
  }, [times, all, only("buy"), only("sell")]);
}

// --- Views ---

// The figures of a board that have a column only where it is sorted by them.
const EXTRA = {
  pnl_without_best_token: ["Less best", signed], best_trade_pnl: ["Best", signed], win_rate_low: ["At least", percent],
  profit_factor: ["Factor", (value) => (unknown(value) ? "no loss" : amount(value))], max_drawdown: ["Fall", amount], active_days: ["Days", count],
};

function entitle(heading, text = heading.textContent) {
  heading.textContent = text;
  document.title = `${text} · Wallet Intelligence`;
}

function board(chain, type, period, sort) {
  const currency = meta.currencies[chain];
  const go = (changes) => (location.hash = link("board", ...Object.values({ chain, type, period, sort, ...changes })));
  const counted = Object.fromEntries(groups().map(([c, t, n]) => [`${c}/${t}`, `${c} ${t} (${n})`]));
  const title = make("div", { className: "title" }, make("h1", {}, "Board"), make("div", { className: "controls" },
    chooser("Group", counted, `${chain}/${type}`, (value) => go({ chain: value.split("/")[0], type: value.split("/")[1] }), true),
    chooser("Period", PERIODS, period, (value) => go({ period: value }), true),
    chooser("By", SORTS, sort, (value) => go({ sort: value }), true)));
  const stats = (name, show) => (entry) => show(entry.period_stats[name]);
  const columns = [
    ["#", (entry) => count(entry.rank), "n"],
    ["Wallet", (entry) => walletLink({ ...entry.profile, blockchain: chain, type, wallet_address: entry.wallet })],
    [`Profit, ${currency}`, ({ period_stats: { realized_pnl, realized_pnl_usd } }) => signed(realized_pnl, amount, realized_pnl_usd), "n"],
    ["", (entry) => spark(entry.chart.values)],
    ["%", stats("realized_pnl_percentage", (value) => signed(value, percent)), "n wide"],
    ["Won", (entry) => percent(entry.period_win_rate_distribution.win_rate_percentage), "n wide"],
    ["Volume", stats("total_volume", amount), "n wide"],
    ["Trades", stats("total_txn", count), "n wide"],
    ["Held for", stats("avg_hold_time_minutes", (value) => (unknown(value) ? "–" : duration(60 * value))), "n wide"],
  ];
  if (sort in EXTRA) columns.splice(3, 0, [EXTRA[sort][0], stats(sort, EXTRA[sort][1]), "n"]);
  const ranks = new Block("Ranks", {
    paths: [(cursor) => requestPath("wallet/leaderboard", { blockchain: chain, type, period, sort, chart: true, limit: 50, cursor })],
    show: ({ leaderboard }) => table(columns, leaderboard, groups().some(([, , n]) => n)
      ? "No wallet of this group traded in the period." : "No wallet is tracked yet: wallet-api discover finds some, and wallet-api import wallets adds them."),
    rows: 51, paged: true,
  });
  return [title, ranks];
}

const side = (trade) => make("span", { className: trade.transaction_type === "buy" ? "gain" : "loss" }, trade.transaction_type);

function tradeColumns(chain, currency, first) {
  return [
    ["When", (trade) => ago(trade.created_at)],
    ["", side],
    first,
    ["Tokens", (trade) => amount(trade.token_amount), "n wide"],
    [`Value, ${currency}`, (trade) => make("span", {}, amount(trade.value), make("small", { className: "wide" }, ` ${usd(trade.value_usd)}`)), "n"],
  ];
}

function wallet(chain, type, address) {
  const currency = meta.currencies[chain];
  const of = { blockchain: chain, address };
  const name = make("h1", {}, shortened(address));
  const title = make("div", { className: "title" }, icon(address, 28), name, make("small", {}, `${chain} ${type}`), make("code", {}, address));
  let sort = "last_seen";
  const tokens = new Block("Tokens", {
    controls: [chooser("Order", TOKEN_SORTS, sort, (value) => { sort = value; tokens.cursors = []; tokens.refresh(); })],
    paths: [(cursor) => requestPath("wallets/tokens", { ...of, type, sort, limit: MOST_ROWS, cursor })],
    show: (page) => table([
      ["Token", (token) => tokenLink(chain, token)],
      ["Realized", (token) => signed(token.realized_pnl), "n"],
      ["%", (token) => signed(token.realized_pnl_percentage, percent), "n wide"],
      ["Unrealized", (token) => signed(token.unrealized_pnl), "n"],
      ["Bought", (token) => amount(token.invested), "n wide"],
      ["Sold", (token) => amount(token.sold), "n wide"],
      ["Last trade", (token) => ago(token.last_seen), "n wide"],
    ], page.tokens, "No token was traded."),
    rows: 13, fixed: true, paged: true,
  });
  const trades = new Block("Trades", {
    paths: [(cursor) => requestPath("wallets/history", { ...of, type, limit: 50, overview: false, cursor })],
    show: (page) => table(tradeColumns(chain, currency, ["Token", (trade) => tokenLink(chain, trade)]), page.trades, "No trade yet."),
    rows: 13, fixed: true, paged: true,
  });
  return [
    title,
    new Block("All time", {
      paths: [() => requestPath("wallets/history", { ...of, type, limit: 1, overview: false })],
      show: ({ profile, lifetime_stats: stats }) => {
        entitle(name, profile.name || shortened(address));
        return figures([
          [`Realized, ${currency}`, signed(stats.realized_pnl)], ["Realized in %", signed(stats.realized_pnl_percentage, percent)],
          [`Unrealized, ${currency}`, unknown(stats.unrealized_pnl) ? null : signed(stats.unrealized_pnl, amount, stats.unrealized_pnl_usd)],
          ["Won", `${percent(stats.win_rate)} of ${count(stats.total_sold)}`], [`Bought, ${currency}`, amount(stats.buy)], [`Sold, ${currency}`, amount(stats.sell)],
          ["Trades", count(stats.total_tx_count)], ["Tokens", `${count(stats.active_tokens_count)}, holds ${count(stats.still_holding_count)}`],
          [`Best sale, ${currency}`, signed(stats.best_trade_pnl)], [`In held tokens, ${currency}`, amount(stats.open_cost)],
        ]);
      },
      kind: "body figured",
    }),
    new Block("Profit over time", {
      paths: [() => requestPath("wallet/pnl_calendar", of)], show: (calendar) => profitPlot(calendar, currency), rows: 9.6,
    }),
    tokens,
    new Block("Holdings", {
      paths: [() => requestPath("wallets/holdings", of), (cursor, balances) => pricesOf(chain, balances)],
      show: (...data) => holdings(chain, ...data),
      rows: 11, fixed: true, follows: trades, isPending: (balances) => balances.active_holdings.loading,
    }),
    trades,
  ];
}

const NATIVE = "native";
function pricesOf(chain, { active_holdings: { tokens } }) {
  const mints = tokens.map((token) => token.token_address).filter((mint) => mint !== NATIVE);
  return mints.length ? requestPath("tokens/prices", { blockchain: chain, mint: mints.slice(0, 100).join(",") }) : null;
}

function holdings(chain, { active_holdings: held }, priced = { tokens: [] }) {
  if (held.loading) return words("The balances are being fetched …");
  const prices = new Map(priced.tokens.map((token) => [token.mint, token.price]));
  const rows = held.tokens.map((token) => {
    const worth = token.token_address === NATIVE ? 1 : prices.get(token.token_address);
    return { ...token, mint: token.token_address, price: worth, worth: unknown(worth) ? null : worth * Number(token.amount_formatted) };
  }).sort((a, b) => (b.worth ?? -1) - (a.worth ?? -1));
  const currency = meta.currencies[chain];
  return first([
    ["Token", (token) => (token.mint === NATIVE ? make("strong", {}, token.symbol) : tokenLink(chain, token))],
    ["Amount", (token) => amount(Number(token.amount_formatted)), "n"],
    [`Price, ${currency}`, (token) => price(token.price), "n wide"],
    [`Worth, ${currency}`, (token) => amount(token.worth), "n"],
  ], rows, "It holds nothing.", "worth most");
}

function token(chain, mint) {
  const currency = meta.currencies[chain];
  const name = make("h1", {}, shortened(mint));
  const title = make("div", { className: "title" }, icon(mint, 28), name, make("small", {}, chain), make("code", {}, mint));
  let sort = "first_buy";
  const trades = new Block("Trades and prices", {
    paths: [(cursor) => requestPath("tokens/transactions", { blockchain: chain, mint, limit: 100, cursor })],
    show: ({ transactions }) => [
      pricePlot(transactions, currency),
      table(tradeColumns(chain, currency, ["Wallet", (trade) => walletLink(trade.profile)]), transactions, "No trade yet."),
    ],
    rows: 19, fixed: true, paged: true,
  });
  const traders = new Block("Who was first", {
    controls: [chooser("Order", TRADER_SORTS, sort, (value) => { sort = value; traders.cursors = []; traders.refresh(); })],
    paths: [(cursor) => requestPath("tokens/stats", { blockchain: chain, mint, sort, limit: 50, cursor })],
    show: (page) => table([
      ["Wallet", ({ profile }) => walletLink(profile)],
      ["Type", ({ profile }) => profile.type, "wide"],
      ["First buy", ({ trader_stats: stats }) => ago(stats.first_buy_at)],
      ["Bought", ({ trader_stats: stats }) => amount(stats.buy), "n wide"],
      ["Sold", ({ trader_stats: stats }) => amount(stats.sell), "n wide"],
      [`Profit, ${currency}`, ({ trader_stats: stats }) => signed(stats.realized_pnl, amount, stats.realized_pnl_usd), "n"],
      ["Keeps", ({ trader_holdings: held }) => percent(held.bag_pct), "n"],
    ], page.traders, "No tracked wallet traded it."),
    rows: 13, fixed: true, paged: true, follows: trades,
  });
  return [
    title,
    new Block("Token", {
      paths: [() => requestPath("tokens/stats", { blockchain: chain, mint, limit: 1 })],
      show: ({ token: named, total_holders: wallets, total_statistics: sums }) => {
        entitle(name, [named.token_name, named.symbol].filter(Boolean).join(" · ") || shortened(mint));
        return figures([
          [`Price, ${currency}`, price(named.price)], ["Price", unknown(named.price_usd) ? null : `$${price(named.price_usd)}`],
          ["Market cap", unknown(named.market_cap_usd) ? null : usd(named.market_cap_usd)],
          ["Wallets", count(wallets.kol_count + wallets.smart_count + wallets.whale_count)], ["Still holding", count(wallets.still_holding_count)],
          [`Bought, ${currency}`, amount(sums.total_buy)], [`Sold, ${currency}`, amount(sums.total_sell)], [`Net flow, ${currency}`, signed(sums.net_flow)],
          ["First entry", ago(sums.first_entry_time)], ["Latest entry", ago(sums.latest_entry_time)],
        ]);
      },
      kind: "body figured", follows: trades,
    }),
    trades,
    traders,
  ];
}

// A list of two lines to the left and right of each row.
function list(rows, left, right, empty) {
  const part = (className, [first, second]) => make("div", { className }, first, make("small", {}, ...[second].flat()));
  if (!rows.length) return words(empty);
  return make("ol", { className: "list" }, ...rows.map((row) => make("li", {}, part("", left(row)), part("n", right(row)))));
}

// The signals and the newest trades of the group.
let mode = "cluster";
function beside(chain, type) {
  const currency = meta.currencies[chain];
  const newest = new Block("Newest trades", {
    paths: [() => requestPath("transactions/latest", { blockchain: chain, type, limit: 25 })],
    show: ({ transactions }) => list(
      transactions, (trade) => [walletLink(trade.profile), ago(trade.created_at)],
      (trade) => [tokenLink(chain, trade), [side(trade), ` ${amount(trade.value)} ${currency}`]], "No trade yet."),
    rows: 20, fixed: true,
  });
  const signals = new Block("Signals", {
    controls: [chooser("Mode", MODES, mode, (value) => { mode = value; signals.refresh(); })],
    paths: [() => requestPath("signals", { blockchain: chain, type, mode, limit: 20, include_wallets: false })],
    show: ({ signals: found, hours }) => list(
      found, (signal) => [tokenLink(chain, signal.token), `${count(signal.window.wallet_count)} wallets, ${signal.signal_strength}`],
      (signal) => [signed(signal.token_stats.net_flow), `net ${currency}, ${hours} h`], `No signal in ${hours} hours.`),
    rows: 14, fixed: true, follows: newest,
  });
  return [signals, newest];
}

// --- The address, which names the view ---

const groups = () => Object.entries(meta.wallet_counts).flatMap(([chain, types]) => Object.entries(types).map(([type, n]) => [chain, type, n]));

function parts() {
  try {
    return location.hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
  } catch {
    return [];
  }
}

function view() {
  const [name, chain, ...rest] = parts();
  const known = (type) => groups().some(([c, t]) => c === chain && t === type);
  if (name === "wallet" && known(rest[0]) && rest[1]) {
    group = [chain, rest[0]];
    return wallet(chain, ...rest);
  }
  if (name === "token" && meta.chains.includes(chain) && rest[0]) {
    if (group[0] !== chain) group = [chain, Object.keys(meta.wallet_counts[chain])[0]];
    return token(chain, rest[0]);
  }
  if (known(rest[0])) group = [chain, rest[0]];
  else group = (groups().find(([, , n]) => n) ?? groups()[0]).slice(0, 2);
  return board(...group, Object.hasOwn(PERIODS, rest[1]) ? rest[1] : "7d", Object.hasOwn(SORTS, rest[2]) ? rest[2] : "realized_pnl");
}

async function route() {
  if (!key) return askForKey("");
  $("ask").hidden = true;
  $("main").hidden = $("forget").hidden = false;
  leaving.abort();
  leaving = new AbortController();
  for (const chart of plots) forgetPlot(chart);
  say();
  try {
    meta ??= (await request("v1/meta", null, leaving.signal)).data;
  } catch (error) {
    if (!leaving.signal.aborted) say(`${error.message} This is tried again every ${POLL_SECONDS} seconds.`);
    blocks = [];
    besideOf = "";
    return;
  }
  const shown = view();
  entitle(shown[0].querySelector("h1"));
  $("view").replaceChildren(...shown.map((part) => part.element ?? part));
  const isSame = besideOf === String(group);
  const aside = isSame ? blocks.filter((block) => $("beside").contains(block.element)) : beside(...group);
  if (!isSame) $("beside").replaceChildren(...aside.map((block) => block.element));
  besideOf = String(group);
  blocks = [...shown.slice(1), ...aside];
  poll();
}

function poll() {
  polledAt = Date.now();
  if (!blocks.length) return route();
  for (const block of blocks) if (block.isDue()) block.refresh();
  for (const time of document.querySelectorAll("time")) time.textContent = since(time.dateTime);
}

function tick() {
  if ($("main").hidden || document.hidden) return;
  const now = Date.now();
  if (now >= pausedUntil && now >= polledAt + 1000 * POLL_SECONDS) poll();
  for (const block of blocks) block.tick();
}

// --- Key, search, colors ---

function askForKey(message) {
  leaving.abort();
  blocks = [];
  key = besideOf = "";
  sessionStorage.removeItem(KEY);
  $("main").hidden = $("forget").hidden = true;
  $("view").replaceChildren();
  $("beside").replaceChildren();
  $("ask").hidden = false;
  $("refused").textContent = message;
  $("key").focus();
}

function say(...content) {
  $("said").replaceChildren(...content);
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  key = $("key").value.trim();
  $("key").value = "";
  sessionStorage.setItem(KEY, key);
  route();
});
$("forget").addEventListener("click", () => askForKey(""));

const label = (profile) => `${profile.name} · ${profile.blockchain} ${profile.type}`;

// Names are loaded once, when the search is first used.
function loadNames() {
  names ??= Promise.all(groups().filter(([, , n]) => n).map(async ([blockchain, type]) =>
    (await request(requestPath("wallets", { blockchain, type, limit: 1000 }))).data.wallets.filter((profile) => profile.name)))
    .then((lists) => lists.flat())
    .catch(() => { names = null; return []; });
  return names;
}

// Return the wallets of this name and group, or else those whose name and group have the text in them.
async function named(text) {
  const sought = text.toLowerCase();
  const found = (await loadNames()).filter((profile) => label(profile).toLowerCase().includes(sought));
  const exact = found.filter((profile) => label(profile).toLowerCase() === sought);
  return exact.length ? exact : found;
}

$("sought").addEventListener("input", async () => {
  const text = $("sought").value.trim();
  const found = key && meta && text.length > 1 && !ADDRESS.test(text) ? await named(text) : [];
  if ($("sought").value.trim() !== text) return;
  $("names").replaceChildren(...found.slice(0, 20).map((profile) => make("option", { value: label(profile) })));
});

const goTo = (profile) => link("wallet", profile.blockchain, profile.type, profile.wallet_address);

async function find(text) {
  if (!ADDRESS.test(text)) {
    const found = await named(text);
    if (found.length === 1) return (location.hash = goTo(found[0]));
    if (!found.length) return say(`No tracked wallet is named “${text}”.`);
    const which = found.length > 12 ? `The first 12 of ${found.length} wallets:` : `${found.length} wallets:`;
    return say(which, ...found.slice(0, 12).map((profile) => make("a", { href: goTo(profile) }, label(profile))));
  }
  const { data } = await request(requestPath("wallets/lookup", { address: text }));
  if (data.found) {
    const [first, ...others] = data.matches.map((match) => ({ ...match, wallet_address: data.wallet_address }));
    const arrived = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    if (location.hash !== goTo(first)) {
      location.hash = goTo(first);
      await arrived;
    }
    if (others.length) say("Also tracked as", ...others.map((match) => make("a", { href: goTo(match) }, `${match.blockchain} ${match.type}`)));
    return;
  }
  const chains = meta.chains.filter((chain) => (chain === "solana") !== text.startsWith("0x"));
  for (const blockchain of chains) {
    const { tokens } = (await request(requestPath("tokens/prices", { blockchain, mint: text }))).data;
    if (tokens[0].found) return (location.hash = link("token", blockchain, tokens[0].mint));
  }
  say("This is neither a tracked wallet nor a token that one has traded.");
}

$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("sought").value.trim();
  if (text && key && meta) find(text).catch((error) => say(error.message));
});

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (darkSystem.matches ? "dark" : "light")) === "dark";

function paint(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  $("theme").textContent = isDark() ? "Light" : "Dark";
  for (const chart of plots) chart.redraw();
}

$("theme").addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  localStorage.setItem(THEME, theme);
  paint(theme);
});
darkSystem.addEventListener("change", () => paint());
paint(localStorage.getItem(THEME));

addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  $("sought").focus();
});
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#/")) route();
});
document.addEventListener("visibilitychange", tick);
setInterval(tick, 1000);
route();
