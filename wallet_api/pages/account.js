// The key of the page: its limits, credits and use.

import { Block } from "./block.js";
import { figures, make, table, words } from "./elements.js";
import { count, date, orDash } from "./formats.js";

const list = (values) => (values?.length ? values.join(", ") : "all");

export function account() {
  return [
    make("div", { className: "title" }, make("h1", {}, "Your key")),
    new Block("Limits and credits", {
      id: "key",
      paths: [() => "v1/key"],
      show: ({ name, expires_at, rate, credits, scope, used } = {}) => [figures([
        ["Name", "", () => name ?? "–"],
        ["Requests", "", () => (rate ? `${count(rate.limit)} each ${count(rate.window_seconds)} s` : "–")],
        ["Requests left now", "", () => count(rate?.remaining)],
        ["Credits left", "", () => (credits ? credits.left ?? "no limit" : "–")],
        ["Credits of a month", "", () => orDash(count)(credits?.monthly)],
        ["Renewed", "", () => date(credits?.renews_at)],
        ["Expires", "", () => date(expires_at)],
        ["Chains", "", () => list(scope?.chains ?? scope?.chain)],
        ["Types", "", () => list(scope?.types ?? scope?.type)],
        ["Operations", "", () => list(scope?.operations ?? scope?.operation)],
        ["Requests today", "", () => count(used?.today.requests)], ["Credits today", "", () => count(used?.today.credits)],
        ["Requests this month", "", () => count(used?.month.requests)], ["Credits this month", "", () => count(used?.month.credits)],
      ]), used ? table([
        ["Operation this month", "operation", String, ""], ["Requests", "requests", count], ["Credits", "credits", count],
      ], used.by_operation, "No request this month.") : words("Loading …")],
    }),
  ];
}
