import { listLatestTrades } from "./client/index.js";
import { told } from "./told.js";

declare const process: { env: Record<string, string> };

for (const after of ["", "start"]) {
  const { data, error } = await listLatestTrades({
    baseUrl: process.env.API,
    auth: process.env.KEY,
    query: { blockchain: "solana", type: "kol", limit: 9, after },
  });
  if (!data) throw new Error(JSON.stringify(error));
  console.log(data.data.transactions.map(told).join("\n"));
}
