import type { paths } from "./schema.js";
import { told } from "./told.js";

declare const process: { env: Record<string, string> };
type Content = paths["/v1/transactions/latest"]["get"]["responses"][200]["content"];
// Of all types that a response may have: there is one.
type Latest = Content[keyof Content];

for (const after of ["", "start"]) {
  const query = new URLSearchParams({ blockchain: "solana", type: "kol", limit: "9", after });
  const headers = { Authorization: `Bearer ${process.env.KEY}` };
  const response = await fetch(`${process.env.API}/v1/transactions/latest?${query}`, { headers });
  const { data } = (await response.json()) as Latest;
  console.log(data.transactions.map(told).join("\n"));
}
