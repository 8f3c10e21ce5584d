// What became of the signals of a group, beside all that it bought.

import { Block } from "./block.js";
import { pair, table } from "./elements.js";
import { change, count, percent } from "./formats.js";

// Midnight of UTC, so many days ago.
const midnight = (days) => new Date(Date.now() - 86_400_000 * days).toISOString().slice(0, 10);
const figure = ({ median_change_percent: median, share_up: up }) => pair(change(median), `${percent(up)} up`);
// The rows of a span are those of the signals, and of all that was bought.
const pairsIn = (rows, period) => rows.filter(({ of }) => of === "signals")
  .map((own) => ({ period, own, base: rows.find(({ of, span }) => of === "base" && span === own.span) }));

// The median change and how many went up, of the signals of yesterday and of the last seven days.
export const outcomesOf = (chain, type, modes, follows) => {
  const since = (days, { signal }) =>
    ["analytics", { blockchain: chain, type, mode: "signal_outcomes", signal, since: midnight(days), until: midnight(0) }];
  return new Block("Signals later", {
    id: "later", rows: 16, follows, choosers: { signal: ["kind", modes] },
    of: (chosen) => since(1, chosen), then: (day, chosen) => since(7, chosen),
    show: ({ outcomes: day }, { outcomes: week }) => table([
      ["After", "", ({ period, own }) => pair(own.span, `${period}, ${count(own.known + own.gone)} of ${count(own.signals)} known`), ""],
      ["Signals", "", ({ own }) => figure(own)],
      ["All bought", "", ({ base }) => figure(base)],
    ], [...pairsIn(day, "yesterday"), ...pairsIn(week, "a week")], ""),
  });
};
