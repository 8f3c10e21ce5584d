import type { components } from "./schema.js";
import { told } from "./told.js";

declare const process: { env: Record<string, string> };
type Latest = components["schemas"]["LatestResponse"];

for (const after of ["", "start"]) {
  const query = new URLSearchParams({ blockchain: "solana", type: "kol", limit: "9", after });
  const headers = { Authorization: `Bearer ${process.env.KEY}` };
  const response = await fetch(`${process.env.API}/v1/transactions/latest?${query}`, { headers });
  const { data } = (await response.json()) as Latest;
  console.log(data.transactions.map(told).join("\n"));
}
