// A wallet: its record, its tokens, its balances and its trades.

import { datesOf } from "./address.js";
import { Block } from "./block.js";
import { explorerLink, figures, make, outLink, shortened, table, tokenLink, words } from "./elements.js";
import { ago, amount, change, count, gained, percent, price, signed, unknown, usd } from "./formats.js";
import { profitPlot } from "./plots.js";
import { requestPath } from "./requests.js";
import { state } from "./state.js";
import { dates, entitle, explained, face, filters, heading, knownSince, tradeColumns } from "./views.js";

const MOST_ROWS = 50;
const WINDOWS = { all: "all time", month: "30 days", week: "7 days" };
export const TOKEN_SORTS = {
  last_seen: "last trade", realized_pnl: "profit", unrealized_pnl: "unrealized", invested: "bought", open_cost: "cost of what is held",
};

export function wallet(chain, type, address) {
  const currency = state.meta.currencies[chain];
  const of = { blockchain: chain, address };
  const window = datesOf();
  const trades = new Block("Trades", {
    id: "trades",
    choosers: filters(chain),
    paths: [({ cursor, values: { transaction_type, min_value } }) => (transaction_type || min_value
      ? requestPath("transactions/latest", { ...of, ...window, type, transaction_type, min_value, limit: 25, cursor })
      : requestPath("wallets/history", { ...of, ...window, type, limit: 25, overview: false, cursor }))],
    show: ({ trades: all, transactions = all }) => table(tradeColumns(chain, ["Token", "", tokenLink(chain), ""]), transactions, "No such trade."),
    rows: 13, fixed: true, paged: true,
  });
  return [
    heading(chain, address, `${chain} ${type}`, [explorerLink(chain, "wallet", address, "Explorer")], dates()),
    brief(chain, { ...of, type }, window, trades),
    allTime(currency, { ...of, type }),
    new Block("Profit over time", {
      id: "profit",
      paths: [() => requestPath("wallet/pnl_calendar", { ...of, ...window })],
      show: ({ months }) => profitPlot(months.flatMap((month) => month.dates), currency), rows: 9.6,
    }),
    tokens(chain, type, of),
    new Block("Holdings", {
      id: "holdings",
      paths: [() => requestPath("wallets/holdings", of), (block, { active_holdings: { tokens } }) => pricesPath(chain, tokens)],
      show: ({ active_holdings: held }, priced) => holdings(chain, held, priced?.tokens ?? []),
      rows: 11, fixed: true, follows: trades, isPending: (balances) => balances.active_holdings.loading,
    }),
    trades,
  ];
}

// The first look: what the wallet made in its life, a month and a week, its rank, and its best and worst tokens.
function brief(chain, { type, ...of }, window, trades) {
  const currency = state.meta.currencies[chain];
  const made = (text, tokens) => (tokens.length ? make("p", { className: "words links" }, text, ...tokens.map((token) =>
    make("span", {}, tokenLink(chain)(token), " ", explained({ ...of, type, wallet_address: of.address }, token.mint, token.realized_pnl)))) : null);
  return new Block("In short", {
    id: "brief", isHead: true, follows: trades, rows: 9.5,
    paths: [() => requestPath("wallets/brief", { ...of, type }), () => (window.since || window.until ? requestPath("wallets/tracker", { ...of, ...window }) : null)],
    show: ({ profile, rank, held, best, worst, ...windows }, dated) => {
      const between = dated ? [{ ...dated.period_stats, closed_count: dated.period_win_rate_distribution.closed_count, text: "these dates" }] : [];
      entitle(profile.name || shortened(of.address));
      face(of.address, profile.image_url, [outLink(profile.twitter, "Twitter"), outLink(profile.telegram, "Telegram")]);
      return [table([
        ["Made in", "text", String, ""], [`Profit, ${currency}`, "realized_pnl", signed], ["Profit, $", "realized_pnl_usd", gained, "n wide"],
        ["%", "realized_pnl_percentage", change], ["Less best", "pnl_without_best_token", signed, "n wide"],
        ["Won, at least", "win_rate_low", percent, "n wide"], ["Tokens sold", "closed_count", count, "n wide"], ["Trades", "total_txn", count],
      ], [...between, ...Object.entries(WINDOWS).map(([name, text]) => ({ ...windows[name], text }))]), figures([
        ["Rank of the month", "rank", count], ["Tokens held", "held.tokens", count], [`They cost, ${currency}`, "held.open_cost", amount],
        [`Worth, ${currency}`, "held.worth", amount],
      ], { rank, held }), made("Best:", best), made("Worst:", worst)];
    },
  });
}

function allTime(currency, of) {
  return new Block("All time", {
    id: "all",
    paths: [() => requestPath("wallets/history", { ...of, limit: 1, overview: false })],
    show: ({ profile, lifetime_stats: stats } = {}) => figures([
      [`Unrealized, ${currency}`, "unrealized_pnl", signed], ["Unrealized, $", "unrealized_pnl_usd", gained],
      [`Bought, ${currency}`, "buy", amount], [`Sold, ${currency}`, "sell", amount], ["In held tokens, $", "open_cost_usd", usd],
      [`Best sale, ${currency}`, "best_trade_pnl", signed], ["Sales won", "win_rate", percent], ["Tokens", "active_tokens_count", count],
      ["Trades known since", "", () => (profile ? knownSince(profile) : "–")],
    ], stats),
  });
}

function tokens(chain, type, of) {
  const currency = state.meta.currencies[chain];
  return new Block("Tokens", {
    id: "tokens",
    choosers: { sort: { label: "by", options: TOKEN_SORTS } },
    paths: [({ values: { sort, order }, cursor }) => requestPath("wallets/tokens", { ...of, type, sort, order, limit: 25, cursor })],
    show(page) {
      return table([
        ["Token", "", tokenLink(chain), ""],
        [`Realized, ${currency}`, "realized_pnl", (profit, { mint }) => explained({ ...of, type, wallet_address: of.address }, mint, profit), "n", "realized_pnl"],
        ["Realized, $", "realized_pnl_usd", gained, "n wide widest"],
        ["%", "realized_pnl_percentage", change, "n wide"],
        ["Unrealized", "unrealized_pnl", signed, "n", "unrealized_pnl"],
        ["Bought", "invested", amount, "n wide", "invested"],
        ["Last trade", "last_seen", ago, "n wide", "last_seen"],
      ], page.tokens, "No token was traded.", this.sorting);
    },
    rows: 13, fixed: true, paged: true,
  });
}

function pricesPath(chain, tokens) {
  const mints = tokens.slice(0, state.meta.limits.batch_max_mints).map((token) => token.token_address);
  return mints.length ? requestPath("tokens/prices", { blockchain: chain, mint: mints }) : null;
}

// Prices are in the order of the tokens.
function holdings(chain, held, priced) {
  if (held.loading) return words("The balances are being fetched …");
  const currency = state.meta.currencies[chain];
  const rows = held.tokens.map((token, place) => {
    const [units, { price, price_usd: usd, price_source }] = [Number(token.amount_formatted), priced[place] ?? {}];
    const worth = (each) => (unknown(each) ? null : each * units);
    return { ...token, mint: token.token_address, units, price, price_source, worth: worth(price), usd: worth(usd) };
  }).sort((a, b) => (b.worth ?? -1) - (a.worth ?? -1));
  const isCut = rows.length > MOST_ROWS;
  return [table([
    ["Token", "", (token) => (token.mint === "native" ? make("strong", {}, token.symbol) : tokenLink(chain)(token)), ""],
    ["Amount", "units", amount],
    [`Price, ${currency}`, "price", price, "n wide"],
    ["Price of", "price_source", (source) => source ?? "–", "wide"],
    [`Worth, ${currency}`, "worth", amount],
    ["Worth, $", "usd", usd, "n wide"],
  ], rows.slice(0, MOST_ROWS), "It holds nothing."), isCut ? words(`The ${MOST_ROWS} worth most, of ${count(rows.length)}.`) : null];
}
