// A position, explained: the trades of a wallet in a token, and what each made of it.

import { link } from "./address.js";
import { Block } from "./block.js";
import { explorerLink, make, pair, shortened, titleOf } from "./elements.js";
import { amount, change, count, gained, minutes, signed } from "./formats.js";
import { state } from "./state.js";
import { heading, when } from "./views.js";

// The rule that made a step, in words: "a-sell-without-a-buy".
const made = (rule, { transaction_type: type }) =>
  make("span", { className: type === "buy" ? "gain" : "loss" }, rule.slice(2).replace("-of-what-was-bought", "").replaceAll("-", " "));

export function position(chain, type, address, mint) {
  const currency = state.meta.currencies[chain];
  const sums = [
    [`Realized, ${currency}`, "totals.realized_pnl", signed], ["Realized, $", "totals.realized_pnl_usd", gained],
    ["Realized in %", "totals.realized_pnl_percentage", change], [`Bought, ${currency}`, "totals.invested", amount],
    [`Sold, ${currency}`, "totals.sold", amount], [`Of it without cost, ${currency}`, "totals.sold_without_cost", amount],
    ["Buys", "totals.buy_txn", count], ["Sells", "totals.sell_txn", count],
  ];
  const columns = [
    ["When", "", (step) => pair(when(chain)(step), explorerLink(chain, "block", step.block, `block ${step.block}`)), ""],
    ["What", "rule", made, "text"],
    ["Tokens", "token_amount", amount, "n wide"], [`Value, ${currency}`, "value", amount],
    ["Cost of it", "cost_of_sold", amount, "n wide"], [`Profit, ${currency}`, "realized_pnl", signed],
    ["Held for", "hold_time_minutes", minutes, "n wide widest"], ["Without cost", "without_cost", amount, "n wide widest"],
    ["Held then", "quantity", amount, "n wide"], ["At a cost of", "cost", amount, "n wide"],
  ];
  return [heading(chain, mint, "trade by trade", [
    make("a", { href: link("token", chain, mint) }, "The token"),
    make("a", { href: link("wallet", chain, type, address), title: address }, `The wallet ${shortened(address)}`),
  ]), new Block("Step by step", {
    id: "steps", isPaged: true, rows: 19, of: ["wallets/explain", { blockchain: chain, address, type, mint, limit: 50 }],
    titled: ({ totals }) => titleOf({ ...totals, mint }), list: "steps", empty: "No trade.", sums, columns,
  })];
}
