// The page at /: boards, wallets and tokens, each block of them from one documented request. The key stays in this tab.
// Texts of tokens and wallets are written by strangers: they become text nodes alone, and their images are not loaded.
"use strict";

const KEY = "wallet-api.key";
const THEME = "wallet-api.theme";
const POLL_SECONDS = 15;
const MOST_ROWS = 50;
const ROW_REM = 2.1;
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
let group = "";
let aside = [];
let asideOf = "";
const chosen = {};

// --- Elements ---

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

function draw(d, attributes) {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries({ ...attributes, "aria-hidden": true })) svg.setAttribute(name, value);
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
}

// A picture made of an address: five by five squares, left and right alike.
function icon(address, size = 20) {
  let hash = 2166136261;
  for (const character of address) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619) >>> 0;
  let squares = "";
  for (let place = 0; place < 15; place++) {
    const [x, y] = [Math.floor(place / 5), place % 5];
    if ((hash >>> place) & 1) squares += `M${x} ${y}h1v1h-1z` + (x < 2 ? `M${4 - x} ${y}h1v1h-1z` : "");
  }
  return draw(squares, { viewBox: "0 0 5 5", width: size, height: size, fill: `hsl(${(hash >>> 15) % 360} 60% 50%)` });
}

// How a sum grew, with its zero.
function spark({ values }) {
  const [width, height] = [84, 24];
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const points = values.map((value, place) => {
    const [x, y] = [place / (values.length - 1 || 1), (high - value) / (high - low || 1)];
    return `${(x * width).toFixed(1)} ${(2 + y * (height - 4)).toFixed(1)}`;
  });
  return draw(`M${points.join("L")}`, { class: `spark ${values.at(-1) < 0 ? "loss" : "gain"}`, viewBox: `0 0 ${width} ${height}`, width, height });
}

const words = (text, className = "words") => make("p", { className }, text);
const link = (...parts) => `#/${parts.join("/")}`;
const shortened = (address) => (address.length > 16 ? `${address.slice(0, 4)}…${address.slice(-4)}` : address);
const who = (href, address, name) => make("a", { href, className: "who", title: address }, icon(address), name || shortened(address));
const toWallet = (profile) => link("wallet", profile.blockchain, profile.type, profile.wallet_address);
const walletLink = (profile) => who(toWallet(profile), profile.wallet_address, profile.name);
const tokenLink = (chain) => (token) => who(link("token", chain, token.mint), token.mint, token.token_name || token.symbol);

// --- Figures in words ---

const unknown = (value) => value === null || value === undefined;
const orDash = (show) => (value) => (unknown(value) ? "–" : show(value));
const format = (options) => orDash(new Intl.NumberFormat("en", options).format);
const count = format({ maximumFractionDigits: 0 });
const price = format({ maximumSignificantDigits: 4 });
const percent = format({ style: "unit", unit: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const millions = format({ notation: "compact", maximumFractionDigits: 2 });
const hundredths = format({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
const digits = format({ maximumSignificantDigits: 3 });
function amount(value) {
  const size = Math.abs(value);
  return (size >= 1e6 ? millions : size >= 1000 ? count : size >= 1 ? hundredths : digits)(value);
}
const usd = orDash((value) => `${value < 0 ? "−" : ""}$${amount(Math.abs(value))}`);

// A profit has a sign and a color.
function signed(value, show = amount) {
  const [sign, className] = value > 0 ? ["+", "gain"] : value < 0 ? ["−", "loss"] : ["", ""];
  return make("span", { className }, orDash(() => sign + show(Math.abs(value)))(value));
}
const change = (value) => signed(value, percent);
const gained = (value) => signed(value, usd);
const side = (type) => make("span", { className: type === "buy" ? "gain" : "loss" }, type);

function duration(seconds) {
  for (const [name, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${name}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}
const minutes = orDash((value) => duration(60 * value));
const since = (moment) => `${duration((Date.now() - Date.parse(moment)) / 1000)} ago`;
const ago = orDash((moment) => make("time", { dateTime: moment, title: moment }, since(moment)));

// --- Tables ---

// Columns are [head, path of the value in a row, how it is shown, class]; an empty path is the row itself.
const read = (row, path) => (path ? path.split(".").reduce((value, name) => value?.[name], row) : row);

function table(columns, rows, empty) {
  if (!rows.length) return words(empty);
  const line = (tag, show) => make("tr", {}, ...columns.map((column) => make(tag, { className: column[3] ?? "n" }, show(column))));
  const lines = rows.map((row) => line("td", ([, path, show]) => show(read(row, path))));
  return make("table", {}, make("thead", {}, line("th", ([head]) => head)), make("tbody", {}, ...lines));
}

// Figures are columns of one row, beneath each other.
function figures(columns, row = {}) {
  const show = ([head, path, show]) => make("div", {}, make("dt", {}, head), make("dd", {}, show(read(row, path))));
  return make("dl", {}, ...columns.map(show));
}

const pair = (first, second) => make("div", {}, first, make("small", {}, second));

function chooser(label, options, chosen, choose, isNamed = false) {
  const entries = Object.entries(options).map(([value, text]) => make("option", { value, selected: value === chosen }, text));
  const select = make("select", { ariaLabel: label, onchange: () => choose(select.value) }, ...entries);
  return make("label", {}, isNamed ? label : null, select);
}

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
  const given = Object.entries(values).filter(([, value]) => !unknown(value));
  return `v1/${operation}?${new URLSearchParams(given)}`;
}

// --- Blocks ---

// Each block is drawn in a frame of its own, so that no frame is long.
let frames = Promise.resolve();
const frame = () => (frames = frames.then(() => new Promise(requestAnimationFrame)));

// A block shows what its paths return, each computed from the data of those before, and refreshes it while it is shown.
// One that follows another is refreshed only with it: its data has a time in it, or costs a provider's request.
class Block {
  constructor(title, { paths, show, rows, options, fixed = false, paged = false, follows = null, isPending = () => false }) {
    Object.assign(this, { title, paths, show, options, follows, isPending });
    Object.assign(this, { parts: [], at: 0, failure: "", pausedUntil: 0, run: 0, cursors: [], next: null });
    this.state = make("span", { className: "state" });
    this.code = make("pre");
    const popup = make("div", { className: "request", popover: "auto" }, this.code);
    const opener = make("button", { type: "button", className: "opener", popoverTargetElement: popup, ariaLabel: `Request of ${title}` }, "Request");
    const choice = options ? chooser(`${title} by`, options, this.choice, (value) => this.choose(value)) : null;
    this.body = make("div", { className: fixed ? "body fixed" : "body" }, rows ? words("Loading …") : show());
    if (rows) this.body.style.setProperty("--height", `${ROW_REM * rows}rem`);
    this.element = make("section", { className: "block", ariaLabel: title },
      make("header", {}, make("h2", {}, title), choice, this.state, opener, popup), this.body);
    const turner = (text, step) => make("button", { type: "button", disabled: true, onclick: () => this.turn(step) }, text);
    this.turners = paged ? [turner("Previous", -1), turner("Next", 1)] : [];
    if (paged) this.element.append(make("div", { className: "pages" }, ...this.turners));
  }

  get cursor() {
    return this.cursors.at(-1);
  }

  get choice() {
    return chosen[this.title] ?? Object.keys(this.options)[0];
  }

  choose(value) {
    chosen[this.title] = value;
    this.cursors = [];
    this.refresh();
  }

  turn(step) {
    if (step > 0) this.cursors.push(this.next);
    else this.cursors.pop();
    for (const turner of this.turners) turner.disabled = true;
    this.refresh();
  }

  async refresh() {
    const { signal } = leaving;
    const run = ++this.run;
    const shown = [];
    let isNew = Boolean(this.failure);
    let hasChanged = false;
    try {
      for (const [place, pathOf] of this.paths.entries()) {
        const path = pathOf(this, ...shown);
        if (!path) break;
        this.cite(place, path);
        const before = this.parts[place]?.path === path ? this.parts[place] : null;
        const response = await request(path, before?.etag, signal);
        if (run !== this.run) return;
        if (response) this.parts[place] = { path, ...response };
        isNew ||= Boolean(response);
        hasChanged ||= Boolean(response && before);
        shown.push(this.parts[place].data);
      }
    } catch (error) {
      if (!signal.aborted && run === this.run) this.fail(error);
      return;
    }
    const content = isNew ? [this.show(...shown)].flat() : null;
    if (content) await frame();
    if (signal.aborted || run !== this.run) return;
    Object.assign(this, { at: Date.now(), failure: "", pending: this.isPending(...shown) });
    if (content) this.display(content, shown[0].pagination);
    this.tick();
    if (hasChanged) for (const block of blocks) if (block.follows === this) block.refresh();
  }

  isDue() {
    return this.pausedUntil <= Date.now() && (!this.follows || !this.at || this.pending || Boolean(this.failure));
  }

  // Show the request, without the key.
  cite(place, path) {
    const line = `curl -H "Authorization: Bearer $KEY" '${new URL(path, location.href).href}'`;
    this.code.textContent = [...this.code.textContent.split("\n").slice(0, place), line].join("\n");
  }

  display(content, pagination) {
    const focused = this.body.contains(document.activeElement) && document.activeElement.getAttribute("href");
    this.body.replaceChildren(...content);
    if (focused) [...this.body.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
    if (!this.turners.length) return;
    this.next = pagination.next_cursor;
    this.turners[0].disabled = !this.cursors.length;
    this.turners[1].disabled = !this.next;
  }

  fail(error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 401 || error.status === 403) return askForKey(error.message);
    this.failure = error.message;
    this.pausedUntil = Date.now() + 1000 * error.wait;
    if (!this.at || error.status === 404) this.body.replaceChildren(words(error.message, "words loss"));
    this.tick();
  }

  tick() {
    const wait = Math.ceil((Math.max(pausedUntil, this.pausedUntil, polledAt + 1000 * POLL_SECONDS) - Date.now()) / 1000);
    const age = this.at ? `updated ${duration((Date.now() - this.at) / 1000)} ago` : "";
    const problem = this.at ? `${this.failure} Last ${age}` : "Not loaded";
    this.state.textContent = this.failure ? `${problem}; next try in ${Math.max(wait, 0)} s` : age;
    this.state.classList.toggle("loss", Boolean(this.failure));
  }
}

// --- Plots ---

const plots = new Set();
const probe = document.body.appendChild(make("span", { hidden: true }));
let colors = {};
function color(name) {
  if (!colors[name]) {
    probe.style.color = `var(--${name})`;
    colors[name] = getComputedStyle(probe).color;
  }
  return colors[name];
}

const utc = (options) => new Intl.DateTimeFormat("en", { timeZone: "UTC", ...options });
const [date, day] = [utc({ dateStyle: "medium" }), utc({ month: "short", day: "numeric" })];
const clock = utc({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const times = (self, values, place, space, step) => values.map((value) => (step % 86400 && value % 86400 ? clock : day).format(1000 * value));
const prices = (self, values) => values.map((value) => (unknown(value) ? "" : price(value)));

// A plot is made as soon as it has a width, and goes when it has none. It has a text for who cannot see it.
function plot(text, series, data, options = {}) {
  const place = make("div", { className: "plot", role: "img", ariaLabel: text });
  const height = 270;
  const lines = { stroke: () => color("line"), width: 1 };
  let chart = null;
  const size = (self, texts) => 20 + 7 * Math.max(0, ...(texts ?? []).map((text) => text.length));
  const all = {
    height, cursor: { y: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(1000 * seconds), "Etc/UTC"),
    axes: [{ values: times }, { values: prices, size }].map((axis) => ({ stroke: () => color("pale"), grid: lines, ticks: lines, ...axis })),
    series: [{ label: "UTC", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...series.map((line) => ({ points: { show: false }, ...line }))],
    ...options,
  };
  const resize = (width) => {
    if (chart && width) return chart.setSize({ width, height });
    chart?.destroy();
    plots.delete(chart);
    chart = width ? new uPlot({ ...all, width }, data, place) : null;
    if (chart) plots.add(chart);
  };
  new ResizeObserver(([{ contentRect }]) => setTimeout(resize, 0, contentRect.width)).observe(place);
  return place;
}

function profitPlot(days, currency) {
  if (!days.length) return words("No trade yet.");
  let sum = 0;
  const daily = days.map((day) => day.realized_pnl);
  const total = daily.map((profit) => (sum += profit));
  const value = (self, profit) => orDash(() => `${amount(profit)} ${currency}`)(profit);
  const bar = () => color("pale");
  return plot(`Realized profit over ${days.length} days with a trade: ${amount(sum)} ${currency}.`, [
    { label: "profit of the day", paths: uPlot.paths.bars({ size: [0.7, 24] }), stroke: bar, fill: bar, value },
    { label: "in all", width: 2, stroke: () => color(sum < 0 ? "loss" : "gain"), value },
  ], [days.map((day) => Date.parse(day.date) / 1000), daily, total]);
}

function pricePlot(trades, currency) {
  const known = trades.filter((trade) => trade.price_per_token > 0).sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  if (!known.length) return words("No trade with a price.");
  const all = known.map((trade) => trade.price_per_token);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const only = (type) => known.map((trade) => (trade.transaction_type === type ? trade.price_per_token : null));
  const value = (self, figure) => orDash(() => `${price(figure)} ${currency}`)(figure);
  const points = (label, name, fill) => ({
    label, value, paths: () => null, stroke: () => color(name),
    points: { show: true, size: 8, width: 2, stroke: () => color(name), fill: () => color(fill) },
  });
  return plot(`Prices of ${known.length} trades, from ${price(low)} to ${price(high)} ${currency}.`, [
    { label: "price", stroke: () => color("pale"), value }, points("buy", "gain", "gain"), points("sell", "loss", "card"),
  ], [known.map((trade) => Date.parse(trade.created_at) / 1000), all, only("buy"), only("sell")], { scales: { y: { distr: high > 5 * low ? 3 : 1 } } });
}

// --- Views: a title, and blocks ---

// The figures of a board that have a column only where it is sorted by them.
const EXTRA = {
  pnl_without_best_token: ["Less best", signed], best_trade_pnl: ["Best", signed], win_rate_low: ["At least", percent],
  profit_factor: ["Factor", (value) => (unknown(value) ? "no loss" : amount(value))], max_drawdown: ["Fall", amount], active_days: ["Days", count],
};

function entitle(text) {
  document.querySelector("#view h1").textContent = text;
  document.title = `${text} · Wallet Intelligence`;
}

const heading = (address, kind) => make("div", { className: "title" },
  icon(address, 28), make("h1", {}, shortened(address)), make("small", {}, kind), make("code", {}, address));

function board(chain, type, period, sort) {
  const currency = meta.currencies[chain];
  const go = (group, period, sort) => (location.hash = `#/board/${group}/${period}/${sort}`);
  const counted = Object.fromEntries(Object.entries(groups()).map(([name, n]) => [name, `${name.replace("/", " ")} (${n})`]));
  const title = make("div", { className: "title" }, make("h1", {}, "Board"), make("div", { className: "controls" },
    chooser("Group", counted, group, (value) => go(value, period, sort), true),
    chooser("Period", PERIODS, period, (value) => go(group, value, sort), true),
    chooser("By", SORTS, sort, (value) => go(group, period, value), true)));
  const columns = [
    ["#", "rank", count],
    ["Wallet", "", ({ profile, wallet }) => walletLink({ ...profile, blockchain: chain, type, wallet_address: wallet }), ""],
    [`Profit, ${currency}`, "period_stats.realized_pnl", signed],
    ["Profit, $", "period_stats.realized_pnl_usd", gained, "n wide widest"],
    ["Chart", "chart", spark],
    ["%", "period_stats.realized_pnl_percentage", change, "n wide"],
    ["Won", "period_win_rate_distribution.win_rate_percentage", percent, "n wide"],
    ["Volume", "period_stats.total_volume", amount, "n wide"],
    ["Trades", "period_stats.total_txn", count, "n wide"],
    ["Held for", "period_stats.avg_hold_time_minutes", minutes, "n wide"],
  ];
  if (sort in EXTRA) columns.splice(3, 0, [EXTRA[sort][0], `period_stats.${sort}`, EXTRA[sort][1]]);
  const empty = isEmpty()
    ? "No wallet is tracked yet: wallet-api discover finds some, wallet-api import wallets adds them, and wallet-api sync trades reads what "
      + "they trade."
    : "No wallet of this group traded in the period.";
  return [title, new Block("Ranks", {
    paths: [({ cursor }) => requestPath("wallet/leaderboard", { blockchain: chain, type, period, sort, chart: true, limit: MOST_ROWS, cursor })],
    show: ({ leaderboard }) => table(columns, leaderboard, empty), rows: 1 + Math.min(groups()[group] || 1, MOST_ROWS), paged: true,
  })];
}

const tradeColumns = (currency, about) => [
  ["When", "created_at", ago, ""],
  ["Side", "transaction_type", side, ""],
  about,
  ["Tokens", "token_amount", amount, "n wide"],
  [`Value, ${currency}`, "value", amount],
  ["Value, $", "value_usd", usd, "n wide"],
  [`Profit, ${currency}`, "realized_pnl", signed, "n wide"],
];

// Older trades were not read, so that the figures hold from then on.
function knownSince(profile) {
  if (!profile) return "–";
  return profile.history_since ? date.format(new Date(profile.history_since)) : "as imported";
}

function wallet(chain, type, address) {
  const currency = meta.currencies[chain];
  const of = { blockchain: chain, address };
  const trades = new Block("Trades", {
    paths: [({ cursor }) => requestPath("wallets/history", { ...of, type, limit: 25, overview: false, cursor })],
    show: (page) => table(tradeColumns(currency, ["Token", "", tokenLink(chain), ""]), page.trades, "No trade yet."),
    rows: 13, fixed: true, paged: true,
  });
  return [
    heading(address, `${chain} ${type}`),
    new Block("All time", {
      paths: [() => requestPath("wallets/history", { ...of, type, limit: 1, overview: false })],
      show: ({ profile, lifetime_stats: stats } = {}) => {
        if (profile) entitle(profile.name || shortened(address));
        return figures([
          [`Realized, ${currency}`, "realized_pnl", signed], ["Realized, $", "realized_pnl_usd", gained], ["Realized in %", "realized_pnl_percentage", change],
          [`Unrealized, ${currency}`, "unrealized_pnl", signed], ["Unrealized, $", "unrealized_pnl_usd", gained],
          [`Bought, ${currency}`, "buy", amount], [`Sold, ${currency}`, "sell", amount],
          [`In held tokens, ${currency}`, "open_cost", amount], ["In held tokens, $", "open_cost_usd", usd],
          [`Best sale, ${currency}`, "best_trade_pnl", signed], ["Trades", "total_tx_count", count], ["Sales won", "win_rate", percent],
          ["Tokens", "active_tokens_count", count], ["Still held", "still_holding_count", count],
          ["Trades known since", "", () => knownSince(profile)],
        ], stats);
      },
    }),
    new Block("Profit over time", {
      paths: [() => requestPath("wallet/pnl_calendar", of)],
      show: ({ months }) => profitPlot(months.flatMap((month) => month.dates), currency), rows: 9.6,
    }),
    new Block("Tokens", {
      options: TOKEN_SORTS,
      paths: [({ choice, cursor }) => requestPath("wallets/tokens", { ...of, type, sort: choice, limit: 25, cursor })],
      show: (page) => table([
        ["Token", "", tokenLink(chain), ""],
        [`Realized, ${currency}`, "realized_pnl", signed],
        ["Realized, $", "realized_pnl_usd", gained, "n wide widest"],
        ["%", "realized_pnl_percentage", change, "n wide"],
        ["Unrealized", "unrealized_pnl", signed],
        ["Bought", "invested", amount, "n wide"],
        ["Last trade", "last_seen", ago, "n wide"],
      ], page.tokens, "No token was traded."),
      rows: 13, fixed: true, paged: true,
    }),
    new Block("Holdings", {
      paths: [() => requestPath("wallets/holdings", of), (block, { active_holdings: { tokens } }) => pricesPath(chain, tokens)],
      show: ({ active_holdings: held }, priced) => holdings(chain, held, priced?.tokens ?? []),
      rows: 11, fixed: true, follows: trades, isPending: (balances) => balances.active_holdings.loading,
    }),
    trades,
  ];
}

function pricesPath(chain, tokens) {
  const mints = tokens.slice(0, meta.limits.batch_max_mints).map((token) => token.token_address);
  return mints.length ? requestPath("tokens/prices", { blockchain: chain, mint: mints }) : null;
}

// Prices are in the order of the tokens.
function holdings(chain, held, priced) {
  if (held.loading) return words("The balances are being fetched …");
  const currency = meta.currencies[chain];
  const rows = held.tokens.map((token, place) => {
    const [units, { price, price_usd: usd }] = [Number(token.amount_formatted), priced[place] ?? {}];
    const worth = (each) => (unknown(each) ? null : each * units);
    return { ...token, mint: token.token_address, units, price, worth: worth(price), usd: worth(usd) };
  }).sort((a, b) => (b.worth ?? -1) - (a.worth ?? -1));
  const isCut = rows.length > MOST_ROWS;
  return [table([
    ["Token", "", (token) => (token.mint === "native" ? make("strong", {}, token.symbol) : tokenLink(chain)(token)), ""],
    ["Amount", "units", amount],
    [`Price, ${currency}`, "price", price, "n wide"],
    [`Worth, ${currency}`, "worth", amount],
    ["Worth, $", "usd", usd, "n wide"],
  ], rows.slice(0, MOST_ROWS), "It holds nothing."), isCut ? words(`The ${MOST_ROWS} worth most, of ${count(rows.length)}.`) : ""];
}

function token(chain, mint) {
  const currency = meta.currencies[chain];
  const of = { blockchain: chain, mint };
  const trades = new Block("Trades and prices", {
    paths: [({ cursor }) => requestPath("tokens/transactions", { ...of, limit: 50, cursor })],
    show: ({ transactions }) => [
      pricePlot(transactions, currency),
      table(tradeColumns(currency, ["Wallet", "profile", walletLink, ""]), transactions, "No trade yet."),
    ],
    rows: 19, fixed: true, paged: true,
  });
  return [
    heading(mint, chain),
    new Block("Token", {
      paths: [() => requestPath("tokens/stats", { ...of, limit: 1 })],
      show: (stats = {}) => {
        if (stats.token) entitle([stats.token.token_name, stats.token.symbol].filter(Boolean).join(" · ") || shortened(mint));
        return figures([
          [`Price, ${currency}`, "token.price", price], ["Price, $", "token.price_usd", price], ["Market cap, $", "token.market_cap_usd", amount],
          ["Wallets", "total_holders", (of) => count(of && of.kol_count + of.smart_count + of.whale_count)],
          ["Still holding", "total_holders.still_holding_count", count],
          [`Net flow, ${currency}`, "total_statistics.net_flow", signed], ["Net flow, $", "total_statistics.net_flow_usd", gained],
          [`Bought, ${currency}`, "total_statistics.total_buy", amount], [`Sold, ${currency}`, "total_statistics.total_sell", amount],
          ["First entry", "total_statistics.first_entry_time", ago], ["Latest entry", "total_statistics.latest_entry_time", ago],
        ], stats);
      },
      follows: trades,
    }),
    trades,
    new Block("Who was first", {
      options: TRADER_SORTS,
      paths: [({ choice, cursor }) => requestPath("tokens/stats", { ...of, sort: choice, limit: 15, cursor })],
      show: (page) => table([
        ["Wallet", "profile", walletLink, ""],
        ["Type", "profile.type", String, "wide"],
        ["First buy", "trader_stats.first_buy_at", ago, ""],
        [`Bought, ${currency}`, "trader_stats.buy", amount, "n wide"],
        ["Sold", "trader_stats.sell", amount, "n wide"],
        ["Profit", "trader_stats.realized_pnl", signed],
        ["Profit, $", "trader_stats.realized_pnl_usd", gained, "n wide widest"],
        ["Keeps", "trader_holdings.bag_pct", percent],
      ], page.traders, "No tracked wallet traded it."),
      rows: 4, paged: true, follows: trades,
    }),
  ];
}

// The signals and the newest trades of the group.
function beside(chain, type) {
  const currency = meta.currencies[chain];
  const newest = new Block("Newest trades", {
    paths: [() => requestPath("transactions/latest", { blockchain: chain, type, limit: 25 })],
    show: ({ transactions }) => table([
      ["Wallet", "", (trade) => pair(walletLink(trade.profile), ago(trade.created_at)), ""],
      ["Token", "", (trade) => pair(tokenLink(chain)(trade), make("span", {}, side(trade.transaction_type), ` ${amount(trade.value)} ${currency}`))],
    ], transactions, "No trade yet."),
    rows: 20.5, fixed: true,
  });
  const signals = new Block("Signals", {
    options: MODES,
    paths: [({ choice }) => requestPath("signals", { blockchain: chain, type, mode: choice, limit: 20, include_wallets: false })],
    show: ({ signals: found, hours }) => table([
      ["Token", "", (signal) => pair(tokenLink(chain)(signal.token), `${count(signal.window.wallet_count)} wallets, ${signal.signal_strength}`), ""],
      ["Net flow", "token_stats.net_flow", (flow) => pair(signed(flow), `${currency}, ${hours} h`)],
    ], found, `No signal in ${hours} hours.`),
    rows: 14.5, fixed: true, follows: newest,
  });
  return [signals, newest];
}

// --- The address, which names the view ---

// Return how many wallets each group has: { "solana/kol": 40 }.
const groups = () => Object.fromEntries(Object.entries(meta.wallet_counts).flatMap(([chain, types]) =>
  Object.entries(types).map(([type, wallets]) => [`${chain}/${type}`, wallets])));
const isEmpty = () => !Object.values(groups()).some(Boolean);

function view() {
  const [, name, chain, ...rest] = location.hash.split("/");
  const known = Object.keys(groups());
  const isGroup = known.includes(`${chain}/${rest[0]}`);
  if (name === "token" && meta.chains.includes(chain) && rest[0]) {
    if (!group.startsWith(`${chain}/`)) group = known.find((own) => own.startsWith(`${chain}/`));
    return token(chain, rest[0]);
  }
  group = isGroup ? `${chain}/${rest[0]}` : known.find((own) => groups()[own]) ?? known[0];
  if (name === "wallet" && isGroup && rest[1]) return wallet(chain, ...rest);
  const pick = (all, own, usual) => (Object.hasOwn(all, own) ? own : usual);
  return board(...group.split("/"), pick(PERIODS, rest[1], "7d"), pick(SORTS, rest[2], "realized_pnl"));
}

async function route() {
  if (!key) return askForKey("");
  showForm(false);
  leaving.abort();
  leaving = new AbortController();
  say();
  try {
    meta ??= (await request("v1/meta", null, leaving.signal)).data;
  } catch (error) {
    if (!leaving.signal.aborted) say(`${error.message} This is tried again every ${POLL_SECONDS} seconds.`);
    blocks = [];
    asideOf = "";
    return;
  }
  const [title, ...shown] = view();
  if ($("main").contains(document.activeElement)) $("main").focus();
  $("view").replaceChildren(title, ...shown.map((block) => block.element));
  entitle(title.querySelector("h1").textContent);
  if (asideOf !== group) {
    aside = beside(...group.split("/"));
    $("beside").replaceChildren(...aside.map((block) => block.element));
  }
  asideOf = group;
  blocks = [...shown, ...aside];
  poll();
}

// Go to the first wallets as soon as there are any.
async function recount() {
  meta = (await request("v1/meta", null, leaving.signal)).data;
  if (!isEmpty()) route();
}

function poll() {
  polledAt = Date.now();
  if (!blocks.length) return route();
  if (isEmpty()) recount().catch(() => {});
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

function showForm(isShown) {
  $("ask").hidden = !isShown;
  for (const part of ["main", "search", "forget"]) $(part).hidden = isShown;
}

function askForKey(message) {
  leaving.abort();
  blocks = [];
  key = asideOf = "";
  sessionStorage.removeItem(KEY);
  for (const part of ["view", "beside", "said"]) $(part).replaceChildren();
  showForm(true);
  $("refused").textContent = message;
  $("key").focus();
}

function say(...content) {
  $("said").replaceChildren(...content);
}

const label = (profile) => `${profile.name} · ${profile.blockchain} ${profile.type}`;

async function loadNames() {
  const ofGroup = ([blockchain, type]) => request(requestPath("wallets", { blockchain, type, limit: 1000 }));
  const lists = await Promise.all(Object.keys(groups()).filter((name) => groups()[name]).map((name) => ofGroup(name.split("/"))));
  const found = lists.flatMap(({ data }) => data.wallets).filter((profile) => profile.name);
  $("names").replaceChildren(...found.map((profile) => make("option", { value: label(profile) })));
  return found;
}

// Return the wallets of this name and group, or else those whose name and group have the text in them.
async function named(text) {
  names ??= loadNames().catch((error) => { names = null; throw error; });
  const sought = text.toLowerCase();
  const found = (await names).filter((profile) => label(profile).toLowerCase().includes(sought));
  const exact = found.filter((profile) => label(profile).toLowerCase() === sought);
  return exact.length ? exact : found;
}

const linkTo = (profile, text = label(profile)) => make("a", { href: toWallet(profile) }, text);

async function find(text) {
  if (!ADDRESS.test(text)) {
    const found = await named(text);
    if (found.length === 1) return (location.hash = toWallet(found[0]));
    if (!found.length) return say(`No tracked wallet is named “${text}”.`);
    const which = found.length > 12 ? `The first 12 of ${found.length} wallets:` : `${found.length} wallets:`;
    return say(which, ...found.slice(0, 12).map((profile) => linkTo(profile)));
  }
  const { data } = await request(requestPath("wallets/lookup", { address: text }));
  if (data.found) {
    const [first, ...others] = data.matches.map((match) => ({ ...match, wallet_address: data.wallet_address }));
    if (location.hash !== toWallet(first)) {
      const arrived = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
      location.hash = toWallet(first);
      await arrived;
    }
    if (others.length) say("Also tracked as", ...others.map((match) => linkTo(match, `${match.blockchain} ${match.type}`)));
    return;
  }
  for (const blockchain of meta.chains.filter((chain) => (chain === "solana") !== text.startsWith("0x"))) {
    const { tokens } = (await request(requestPath("tokens/prices", { blockchain, mint: text }))).data;
    if (tokens[0].found) return (location.hash = link("token", blockchain, tokens[0].mint));
  }
  say("This is neither a tracked wallet nor a token that one has traded.");
}

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (darkSystem.matches ? "dark" : "light")) === "dark";

function paint(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  $("theme").textContent = isDark() ? "Light" : "Dark";
  colors = {};
  for (const chart of plots) chart.redraw();
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  key = $("key").value.trim();
  $("key").value = "";
  sessionStorage.setItem(KEY, key);
  route();
});
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("sought").value.trim();
  if (text && key && meta) find(text).catch((error) => say(error.message));
});
$("sought").addEventListener("input", () => key && meta && named("").catch(() => {}));
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
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#/")) route();
});
document.addEventListener("visibilitychange", tick);
setInterval(tick, 1000);
paint(localStorage.getItem(THEME));
route();
