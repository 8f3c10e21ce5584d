// The key of the page: its limits, credits and use.

import { Block } from "./block.js";
import { make } from "./elements.js";
import { count, date } from "./formats.js";

const list = (values) => values?.join(", ") || "all";

export function account() {
  return [make("div", { className: "title" }, make("h1", {}, "Your key")), new Block("Limits and use", {
    id: "key", rows: 21, of: ["key"],
    sums: [
      ["Name", "name", String],
      ["Requests", "rate", (rate) => `${count(rate.limit)} each ${count(rate.window_seconds)} s`], ["Requests left now", "rate.remaining", count],
      ["Credits left", "credits.left", (left) => (left === null ? "no limit" : count(left))],
      ["Credits of a month", "credits.monthly", count], ["Renewed", "credits.renews_at", date], ["Expires", "expires_at", date],
      ["Chains", "scope.chains", list], ["Types", "scope.types", list], ["Operations", "scope.operations", list],
      ["Requests today", "used.today.requests", count], ["Credits today", "used.today.credits", count],
      ["Requests this month", "used.month.requests", count], ["Credits this month", "used.month.credits", count],
    ],
    list: "used.by_operation", empty: "No request this month.", columns: [
      ["Operation this month", "operation", String, ""], ["Requests", "requests", count], ["Credits", "credits", count],
    ],
  })];
}
