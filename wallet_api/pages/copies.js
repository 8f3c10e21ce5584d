// What a copier of a wallet would have got, beside the wallet.

import { Block } from "./block.js";
import { figures, words } from "./elements.js";
import { change, count, date, signed } from "./formats.js";

const DAYS = 30;

// Of the dates that are chosen, else of so many days. From the start of a day, so that the request is the same for a day.
export function copied(currency, of, dated, trades) {
  const begin = new Date(Date.now() - DAYS * 86400e3).toISOString().slice(0, 10);
  const dates = dated.since || dated.until ? dated : { since: begin };
  return new Block("If copied", {
    id: "copied", follows: trades, rows: 5, of: ["wallets/copy", { ...of, ...dates, limit: 1 }],
    show: (copy) => [figures([
      ["The copier, %", "return_percent", change], ["The wallet in these, %", "wallet_return_percent", change],
      ["The wallet in all, %", "wallet_return_percent_all", change], [`Fees, ${currency}`, "fees", signed],
      ["Followed", "followed", count], ["Buys not followed", "not_followed", count], ["Stuck", "stuck", count],
    ], { ...copy, fees: -copy.fees }),
    words(`Since ${date(copy.since)}, ${copy.delay} s after each trade, for a fee of ${copy.fee_percent} %. ${copy.warnings[0]}`)],
  });
}
