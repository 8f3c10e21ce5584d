// What stands beside each view of a group: its signals, what became of them, and its newest trades.

import { dayBefore } from "./address.js";
import { Block } from "./block.js";
import { make, pair, table, tokenLink, walletLink } from "./elements.js";
import { ago, amount, change, count, percent, side, signed } from "./formats.js";
import { state } from "./state.js";
import { filters } from "./views.js";

export const MODES = { cluster: "bought together", entry: "new to all", exit: "left" };
const HOURS = [["24", "24 hours"], ["1", "an hour"], ["6", "6 hours"], ["72", "3 days"], ["168", "a week"]];
const WALLETS = [["", "usual wallets"], ["2", "2 wallets"], ["3", "3 wallets"], ["5", "5 wallets"], ["10", "10 wallets"]];
const TRANSACTIONS = [["", "any transactions"], ["2", "2 transactions"], ["3", "3 transactions"], ["5", "5 transactions"]];
const MODE = ["kind", MODES];

export function beside(blockchain, type) {
  const currency = state.meta.currencies[blockchain];
  const token = tokenLink(blockchain);
  const newest = new Block("Newest trades", {
    id: "newest", rows: 18, isFixed: true, choosers: filters(blockchain), list: "transactions", empty: "No trade yet.",
    of: ["transactions/latest", { blockchain, type, limit: 25 }],
    columns: [
      ["Wallet", "", (trade) => pair(walletLink(trade.profile), ago(trade.created_at)), ""],
      ["Token", "", (trade) => pair(token(trade), make("span", {}, side(trade.transaction_type), ` ${amount(trade.value)} ${currency}`)), ""],
    ],
  });
  const signals = new Block("Signals", {
    id: "signals", rows: 18, isFixed: true, follows: newest,
    choosers: { mode: MODE, hours: ["window", HOURS], min_wallets: ["wallets", WALLETS], min_transactions: ["transactions", TRANSACTIONS] },
    of: ["signals", { blockchain, type, limit: 20, include_wallets: false }],
    show: ({ signals: found, hours }) => table([
      ["Token", "", (signal) => pair(token(signal.token), `${count(signal.window.wallet_count)} wallets, ${signal.signal_strength}`), ""],
      ["Net flow", "token_stats.net_flow", (flow) => pair(signed(flow), `${currency}, ${hours} h`)],
    ], found, `No signal in ${hours} hours.`),
  });
  return [signals, outcomes({ blockchain, type, mode: "signal_outcomes" }, newest), newest];
}

const figure = ({ median_change_percent: median, share_up: up }) => pair(change(median), `${percent(up)} up`);
// The rows of a span are those of the signals, and of all that was bought; what was not kept has none.
const pairsIn = (rows, period) => rows.filter(({ of }) => of === "signals")
  .map((own) => ({ period, own, base: rows.find(({ of, span }) => of === "base" && span === own.span) }))
  .filter(({ own, base }) => own.signals + base.signals);

// The median change and how many went up, of the signals of yesterday and of the last seven days.
function outcomes(of, follows) {
  const since = (days, { signal }) => ["analytics", { ...of, signal, since: dayBefore(days), until: dayBefore(0) }];
  return new Block("Signals later", {
    id: "later", rows: 10, follows, choosers: { signal: MODE }, of: (chosen) => since(1, chosen), then: (day, chosen) => since(7, chosen),
    show: ({ outcomes: day }, { outcomes: week }) => table([
      ["After", "", ({ period, own }) => pair(own.span, `${period}, ${count(own.known + own.gone)} of ${count(own.signals)} known`), ""],
      ["Signals", "", ({ own }) => figure(own)],
      ["All bought", "", ({ base }) => figure(base)],
    ], [...pairsIn(day, "yesterday"), ...pairsIn(week, "a week")],
    "None of the last seven days is known: wallet-api sync quotes keeps the signals of each full hour, and those of the past with --since."),
  });
}
