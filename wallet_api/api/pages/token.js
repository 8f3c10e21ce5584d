// A token: its trades and prices, and who was first.

import { Block } from "./block.js";
import { explorerLink, table, titleOf, walletLink } from "./elements.js";
import { ago, amount, count, gained, percent, price, signed } from "./formats.js";
import { pricePlot } from "./plots.js";
import { state } from "./state.js";
import { explained, filters, heading, tradeColumns } from "./views.js";

export const TRADER_SORTS = { first_buy: "first buy", buy: "bought", realized_pnl: "profit", token_amount: "held", last_trade: "last trade" };

export function token(chain, mint) {
  const currency = state.meta.currencies[chain];
  const of = { blockchain: chain, mint };
  const trades = new Block("Trades and prices", {
    id: "trades", rows: 19, isFixed: true, isPaged: true, choosers: filters(chain), of: ["tokens/transactions", { ...of, limit: 50 }],
    show: ({ transactions }) => [
      pricePlot(transactions, currency),
      table(tradeColumns(chain, ["Wallet", "profile", walletLink, ""]), transactions, "No such trade."),
    ],
  });
  return [
    heading(chain, mint, chain, [explorerLink(chain, "token", mint, "Explorer"), explorerLink(chain, "chart", mint, "Chart")]),
    new Block("Token", {
      id: "token", follows: trades, of: ["tokens/stats", { ...of, limit: 1 }], titled: ({ token }) => token && titleOf({ ...of, ...token }), sums: [
        [`Price, ${currency}`, "token.price", price], ["Price, $", "token.price_usd", price], ["Market cap, $", "token.market_cap_usd", amount],
        ["Wallets", "total_holders", (holders) => count(holders && state.meta.wallet_types.reduce((sum, type) => sum + holders[`${type}_count`], 0))],
        ["Still holding", "total_holders.still_holding_count", count],
        [`Net flow, ${currency}`, "total_statistics.net_flow", signed], ["Net flow, $", "total_statistics.net_flow_usd", gained],
        [`Bought, ${currency}`, "total_statistics.total_buy", amount], [`Sold, ${currency}`, "total_statistics.total_sell", amount],
        ["First entry", "total_statistics.first_entry_time", ago], ["Latest entry", "total_statistics.latest_entry_time", ago],
      ],
    }),
    trades,
    new Block("Who was first", {
      id: "traders", rows: 4, isPaged: true, follows: trades, choosers: { sort: ["by", TRADER_SORTS] }, ascending: ["first_buy"],
      of: ["tokens/stats", { ...of, limit: 15 }], list: "traders", empty: "No tracked wallet traded it.", columns: [
        ["Wallet", "profile", walletLink, ""],
        ["Type", "profile.type", String, "wide"],
        ["First buy", "trader_stats.first_buy_at", ago, "", "first_buy"],
        [`Bought, ${currency}`, "trader_stats.buy", amount, "n wide", "buy"],
        ["Sold", "trader_stats.sell", amount, "n wide"],
        ["Profit", "trader_stats.realized_pnl", (profit, { profile }) => explained(profile, of.mint, profit), "n", "realized_pnl"],
        ["Profit, $", "trader_stats.realized_pnl_usd", gained, "n wide widest"],
        ["Keeps", "trader_holdings.bag_pct", percent, "n", "token_amount"],
      ],
    }),
  ];
}
