// The board of a group: its wallets, ranked.

import { address, datesOf, go, link } from "./address.js";
import { Block } from "./block.js";
import { chooser, make, shortened, spark, table, walletLink } from "./elements.js";
import { amount, change, count, gained, minutes, percent, signed, unknown } from "./formats.js";
import { requestPath } from "./requests.js";
import { state } from "./state.js";
import { dates, favouriteLinks, knownSince } from "./views.js";

const MOST_ROWS = 50;
export const PERIODS = { "6h": "6 hours", "1d": "day", "7d": "7 days", "30d": "30 days", "90d": "90 days", all: "all time" };
export const SPANS = { ...PERIODS, dates: "two dates" };
export const SORTS = {
  realized_pnl: "profit", pnl_without_best_token: "profit without its best token", realized_pnl_percentage: "profit in %",
  win_rate: "win rate", win_rate_low: "win rate, at least", profit_factor: "gains to losses", max_drawdown: "largest fall",
  total_volume: "volume", total_txn: "trades", best_trade_pnl: "best trade", active_days: "days with a trade",
};
// The figures that have a column only where the board is sorted by them.
export const EXTRA = {
  pnl_without_best_token: ["Less best", signed], best_trade_pnl: ["Best", signed], win_rate_low: ["At least", percent],
  profit_factor: ["Factor", (value) => (unknown(value) ? "no loss" : amount(value))], max_drawdown: ["Fall", amount], active_days: ["Days", count],
};

// Return how many wallets each group has: { "solana/kol": 40 }.
export const groups = () => Object.fromEntries(Object.entries(state.meta.wallet_counts).flatMap(([chain, types]) =>
  Object.entries(types).map(([type, wallets]) => [`${chain}/${type}`, wallets])));
export const isEmpty = () => !Object.values(groups()).some(Boolean);

export function board(chain, type, period, sort) {
  const group = `${chain}/${type}`;
  const currency = state.meta.currencies[chain];
  const order = () => (address().values.get("order") === "asc" ? "asc" : "desc");
  const isDated = period === "dates";
  const { since, until } = datesOf();
  // No date is all time.
  const span = isDated && (since || until) ? { since, until } : { period: isDated ? "all" : period };
  const chosen = () => [...address().values].filter(([name]) => isDated && ["from", "to"].includes(name));
  const show = (group, period, sort, order) => {
    const values = String(new URLSearchParams([...(period === "dates" ? chosen() : []), ...(order === "asc" ? [["order", order]] : [])]));
    go(link("board", group, period, sort) + (values && `?${values}`));
  };
  const counted = Object.fromEntries(Object.entries(groups()).map(([name, n]) => [name, `${name.replace("/", " ")} (${n})`]));
  const title = make("div", { className: "title" }, make("h1", {}, "Board"), make("div", { className: "controls" },
    chooser("Group", counted, group, (value) => show(value, period, sort), true),
    chooser("Period", SPANS, period, (value) => show(group, value, sort, order()), true),
    isDated ? dates() : null,
    chooser("By", SORTS, sort, (value) => show(group, period, value), true)));
  const columns = [
    ["#", "rank", count],
    ["Wallet", "", ({ profile, wallet }) => walletLink({ ...profile, blockchain: chain, type, wallet_address: wallet }), ""],
    [`Profit, ${currency}`, "period_stats.realized_pnl", signed, "n", "realized_pnl"],
    ["Profit, $", "period_stats.realized_pnl_usd", gained, "n wide widest"],
    ["Chart", "chart", spark],
    ["%", "period_stats.realized_pnl_percentage", change, "n wide", "realized_pnl_percentage"],
    ["Won", "period_win_rate_distribution.win_rate_percentage", percent, "n wide", "win_rate"],
    ["Volume", "period_stats.total_volume", amount, "n wide", "total_volume"],
    ["Trades", "period_stats.total_txn", count, "n wide", "total_txn"],
    ["Held for", "period_stats.avg_hold_time_minutes", minutes, "n wide"],
  ];
  if (sort in EXTRA) columns.splice(3, 0, [EXTRA[sort][0], `period_stats.${sort}`, EXTRA[sort][1], "n", sort]);
  const empty = isEmpty()
    ? "No wallet is tracked yet: wallet-api discover finds some, wallet-api import wallets adds them, and wallet-api sync trades reads what "
      + "they trade."
    : "No wallet of this group traded in the period.";
  const sorting = () => ({ sort, order: order(), choose: (sort, order) => show(group, period, sort, order) });
  return [title, favouriteLinks(), new Block("Ranks", {
    id: "ranks",
    paths: [({ cursor }) => requestPath("wallet/leaderboard",
      { blockchain: chain, type, ...span, sort, order: order() === "asc" ? "asc" : "", chart: true, limit: MOST_ROWS, cursor })],
    show: ({ leaderboard }) => table(columns, leaderboard, empty, sorting()),
    rows: 1 + Math.min(groups()[group] || 1, MOST_ROWS), paged: true,
  }), new Block("Tracked wallets", {
    id: "wallets",
    paths: [({ cursor }) => requestPath("wallets", { blockchain: chain, type, limit: MOST_ROWS, cursor })],
    show: ({ wallets }) => table([
      ["Wallet", "", walletLink, ""], ["Address", "wallet_address", (id) => make("code", {}, shortened(id)), "wide"],
      ["Trades known since", "", knownSince, ""],
    ], wallets, "No wallet of this group is tracked."),
    rows: 10, fixed: true, paged: true,
  })];
}
