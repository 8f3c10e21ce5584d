// The board of a group: its wallets, ranked.

import { begin, datesOf } from "./address.js";
import { Block } from "./block.js";
import { chooser, make, shortened, spark, table, walletLink } from "./elements.js";
import { amount, change, count, gained, minutes, percent, signed, unknown } from "./formats.js";
import { state } from "./state.js";
import { dates, favouriteLinks, knownSince } from "./views.js";

const MOST_ROWS = 50;
export const PERIODS = { "7d": "7 days", "6h": "6 hours", "1d": "day", "30d": "30 days", "90d": "90 days", all: "all time" };
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

const EMPTY = "No wallet is tracked yet: wallet-api discover finds some, wallet-api import wallets adds them, and wallet-api sync trades "
  + "reads what they trade.";

// Return how many wallets each group has: { "solana/kol": 40 }.
export const groups = () => Object.fromEntries(Object.entries(state.meta.wallet_counts).flatMap(([chain, types]) =>
  Object.entries(types).map(([type, wallets]) => [`${chain}/${type}`, wallets])));
// Whether the key is good for a group.
export function isOwn(group) {
  const [chain, type] = group.split("/");
  return (state.scope.chains ?? [chain]).includes(chain) && (state.scope.types ?? [type]).includes(type);
}
export const isEmpty = () => !Object.values(groups()).some(Boolean);

export function board(chain, type) {
  const group = `${chain}/${type}`;
  const own = Object.entries(groups()).filter(([name]) => name === group || isOwn(name));
  const counted = Object.fromEntries(own.map(([name, n]) => [name, `${name.replace("/", " ")} (${n})`]));
  const of = { blockchain: chain, type, limit: MOST_ROWS };
  return [
    make("div", { className: "title" }, make("h1", {}, "Board"),
      chooser("Group", counted, group, (name) => begin(["after"], {}, `/board/${name}`), true), dates()),
    favouriteLinks(),
    ranks(of, Math.min(groups()[group] || 1, MOST_ROWS)),
    new Block("Tracked wallets", {
      id: "wallets", rows: 10, isFixed: true, isPaged: true, of: ["wallets", of], list: "wallets",
      empty: "No wallet of this group is tracked.", columns: [
        ["Wallet", "", walletLink, ""], ["Address", "wallet_address", (id) => make("code", {}, shortened(id)), "wide"],
        ["Trades known since", "", knownSince, ""],
      ],
    }),
  ];
}

function ranks({ blockchain, type, limit }, wallets) {
  const { since, until } = datesOf();
  const periods = since || until ? { dates: "these dates", ...PERIODS } : PERIODS;
  return new Block("Ranks", {
    id: "ranks", rows: 1 + wallets, isPaged: true,
    choosers: { period: ["period", periods], sort: ["by", SORTS] },
    of: ({ period, ...chosen }) => ["wallet/leaderboard", {
      blockchain, type, ...(period === "dates" ? { since, until } : { period }), ...chosen, chart: true, limit,
    }],
    show({ leaderboard }) {
      const { sorting } = this;
      const [extra, figure] = EXTRA[sorting.sort] ?? [];
      return table([
        ["#", "rank", count],
        ["Wallet", "", ({ profile, wallet }) => walletLink({ ...profile, blockchain, type, wallet_address: wallet }), ""],
        [`Profit, ${state.meta.currencies[blockchain]}`, "period_stats.realized_pnl", signed, "n", "realized_pnl"],
        ...(extra ? [[extra, `period_stats.${sorting.sort}`, figure, "n", sorting.sort]] : []),
        ["Profit, $", "period_stats.realized_pnl_usd", gained, "n wide widest"],
        ["Chart", "chart", spark],
        ["%", "period_stats.realized_pnl_percentage", change, "n wide", "realized_pnl_percentage"],
        ["Won", "period_win_rate_distribution.win_rate_percentage", percent, "n wide", "win_rate"],
        ["Volume", "period_stats.total_volume", amount, "n wide", "total_volume"],
        ["Trades", "period_stats.total_txn", count, "n wide", "total_txn"],
        ["Held for", "period_stats.avg_hold_time_minutes", minutes, "n wide"],
      ], leaderboard, isEmpty() ? EMPTY : "No wallet of this group traded in the period.", sorting);
    },
  });
}
