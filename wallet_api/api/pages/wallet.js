// A wallet: its record, its tokens, its balances and its trades.

import { datesOf, dayBefore } from "./address.js";
import { Block } from "./block.js";
import { $, explorerLink, figures, make, outLink, picture, shortened, table, tokenLink, words } from "./elements.js";
import { ago, amount, change, count, date, gained, orDash, percent, price, signed, usd } from "./formats.js";
import { profitPlot } from "./plots.js";
import { state } from "./state.js";
import { dates, explained, filters, heading, knownSince, tradeColumns } from "./views.js";

const MOST_ROWS = 50;
const LINKS = { twitter: "Twitter", telegram: "Telegram", copytrade_link: "Copy trading" };
const WINDOWS = { all: "all time", month: "30 days", week: "7 days" };
export const TOKEN_SORTS = {
  last_seen: "last trade", realized_pnl: "profit", unrealized_pnl: "unrealized", invested: "bought", open_cost: "cost of what is held",
};

export function wallet(chain, type, address) {
  const currency = state.meta.currencies[chain];
  const of = { blockchain: chain, address, type };
  const dated = { ...of, ...datesOf() };
  const why = (profit, { mint }) => explained({ ...of, wallet_address: address }, mint, profit);
  const trades = new Block("Trades", {
    id: "trades", rows: 13, isFixed: true, isPaged: true, choosers: filters(chain),
    of: (chosen) => (chosen.transaction_type || chosen.min_value
      ? ["transactions/latest", { ...dated, ...chosen, limit: 25 }]
      : ["wallets/history", { ...dated, ...chosen, limit: 25, overview: false }]),
    show: ({ trades: all, transactions = all }) => table(tradeColumns(chain, ["Token", "", tokenLink(chain), ""]), transactions, "No such trade."),
  });
  return [
    heading(chain, address, `${chain} ${type}`, [explorerLink(chain, "wallet", address, "Explorer")], dates()),
    brief(currency, of, dated, why, trades),
    new Block("All time", {
      id: "all", of: ["wallets/history", { ...of, limit: 1, overview: false }],
      show: ({ profile, lifetime_stats: stats } = {}) => figures([
        [`Unrealized, ${currency}`, "unrealized_pnl", signed], ["Unrealized, $", "unrealized_pnl_usd", gained],
        [`Bought, ${currency}`, "buy", amount], [`Sold, ${currency}`, "sell", amount], ["In held tokens, $", "open_cost_usd", usd],
        [`Best sale, ${currency}`, "best_trade_pnl", signed], ["Sales won", "win_rate", percent], ["Tokens", "active_tokens_count", count],
        ["Trades known since", "profile", orDash(knownSince)],
      ], { ...stats, profile }),
    }),
    copied(currency, of, datesOf(), trades),
    new Block("Profit over time", {
      id: "profit", rows: 9.6, of: ["wallet/pnl_calendar", dated],
      show: ({ months }) => profitPlot(months.flatMap((month) => month.dates), currency),
    }),
    tokens(currency, of, why),
    new Block("Holdings", {
      id: "holdings", rows: 11, isFixed: true, follows: trades, isPending: (balances) => balances.active_holdings.loading,
      of: ["wallets/holdings", { blockchain: chain, address }], show: ({ active_holdings: held }) => holdings(chain, held),
    }),
    trades,
  ];
}

// The first look: what the wallet made in its life, a month and a week, its rank, and its best and worst tokens.
function brief(currency, of, dated, why, follows) {
  const made = (text, tokens) => (tokens.length ? make("p", { className: "words links" }, text,
    ...tokens.map((token) => make("span", {}, tokenLink(of.blockchain)(token), " ", why(token.realized_pnl, token)))) : null);
  const columns = [
    ["Made in", "text", String, ""], [`Profit, ${currency}`, "realized_pnl", signed], ["Profit, $", "realized_pnl_usd", gained, "n wide"],
    ["%", "realized_pnl_percentage", change], ["Less best", "pnl_without_best_token", signed, "n wide"],
    ["Won, at least", "win_rate_low", percent, "n wide"], ["Tokens sold", "closed_count", count, "n wide"], ["Trades", "total_txn", count],
  ];
  const sums = [
    ["Rank of the month", "rank", count], ["Tokens held", "held.tokens", count], [`They cost, ${currency}`, "held.open_cost", amount],
    [`Of it unpriced, ${currency}`, "held.unpriced_cost", amount], [`The rest is worth, ${currency}`, "held.worth", amount],
  ];
  return new Block("In short", {
    id: "brief", follows, rows: 8, of: ["wallets/brief", of], titled: ({ profile }) => profile.name || shortened(of.address),
    then: () => (dated.since || dated.until ? ["wallets/tracker", dated] : null),
    show(data, tracked) {
      const { profile, best, worst } = data;
      $("picture").replaceChildren(picture(of.address, profile.image_url, 28));
      $("profile").replaceChildren(...Object.entries(LINKS).map(([name, text]) => outLink(profile[name], text) ?? ""));
      const rows = Object.entries(WINDOWS).map(([name, text]) => ({ ...data[name], text }));
      if (tracked) rows.unshift({ ...tracked.period_stats, ...tracked.period_win_rate_distribution, text: "these dates" });
      return [table(columns, rows), figures(sums, data), made("Best:", best), made("Worst:", worst)];
    },
  });
}

// What a copier would have got of the dates that are chosen, else of thirty days: from the start of a day, so that the
// request is the same for a day.
function copied(currency, of, dates, follows) {
  const dated = dates.since || dates.until ? dates : { since: dayBefore(30) };
  const sums = [
    ["The copier, %", "return_percent", change], ["The wallet in these, %", "wallet_return_percent", change],
    ["The wallet in all, %", "wallet_return_percent_all", change], [`Fees, ${currency}`, "fees", amount],
    ["Followed", "followed", count], ["Buys not followed", "not_followed", count], ["Stuck", "stuck", count],
  ];
  return new Block("If copied", {
    id: "copied", follows, rows: 5, of: ["wallets/copy", { ...of, ...dated, limit: 1 }],
    show: (copy) => [figures(sums, copy),
      words(`Since ${date(copy.since)}, ${copy.delay} s after each trade, for a fee of ${copy.fee_percent} %. ${copy.warnings[0]}`)],
  });
}

function tokens(currency, of, why) {
  return new Block("Tokens", {
    id: "tokens", rows: 13, isFixed: true, isPaged: true, choosers: { sort: ["by", TOKEN_SORTS] },
    of: ["wallets/tokens", { ...of, limit: 25 }], list: "tokens", empty: "No token was traded.", columns: [
      ["Token", "", tokenLink(of.blockchain), ""],
      [`Realized, ${currency}`, "realized_pnl", why, "n", "realized_pnl"],
      ["Realized, $", "realized_pnl_usd", gained, "n wide widest"],
      ["%", "realized_pnl_percentage", change, "n wide"],
      ["Unrealized", "unrealized_pnl", signed, "n", "unrealized_pnl"],
      ["Bought", "invested", amount, "n wide", "invested"],
      ["Last trade", "last_seen", ago, "n wide", "last_seen"],
    ],
  });
}

function holdings(chain, held) {
  if (held.loading) return words("The balances are being fetched …");
  const currency = state.meta.currencies[chain];
  const rows = held.tokens.map((token) => ({ ...token, mint: token.token_address }))
    .sort((a, b) => (b.worth ?? -1) - (a.worth ?? -1));
  return [table([
    ["Token", "", (token) => (token.mint === "native" ? make("strong", {}, token.symbol) : tokenLink(chain)(token)), ""],
    ["Amount", "amount_formatted", amount],
    [`Price, ${currency}`, "price", price, "n wide"],
    ["Price of", "price_source", orDash(String), "wide"],
    [`Worth, ${currency}`, "worth", amount],
    ["Worth, $", "worth_usd", usd, "n wide"],
  ], rows.slice(0, MOST_ROWS), "It holds nothing."),
  rows.length > MOST_ROWS ? words(`The ${MOST_ROWS} worth most, of ${count(rows.length)}.`) : null];
}
