import type { Change, Trade } from "./rows.js";

/** What is read of a row: `event` tells which change it is. */
export function told(row: Change | Trade): string {
  if (!("event" in row)) return `row ${row.tx_signature}`;
  switch (row.event) {
    case "trade":
    case "correction":
      return `${row.event} ${row.tx_signature}${row.value > 0 ? "" : " for nothing"}`;
    case "removal":
      return row.mint;
    case "wallet_removal":
      return row.profile.name;
    case "purge":
      return row.before ?? row.mint ?? "";
    default: {
      const none: never = row;
      return none;
    }
  }
}
