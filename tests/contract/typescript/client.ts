// Call every operation with a key, and print the status of each by its path: node client.js URL KEY ADDRESS MINT
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

const [url, key, address, mint] = process.argv.slice(2) as [string, string, string, string];
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });

const group = { blockchain: "solana", type: "kol" } as const;
const wallet = { blockchain: "solana", address } as const;
const token = { blockchain: "solana", mint } as const;
const statuses: Record<string, number> = {};

type Answer = { data?: unknown; error?: unknown; response: Response };

async function note(path: keyof paths, answer: Promise<Answer>): Promise<void> {
  statuses[path] = (await answer).response.status;
}

// The types of arguments, data and errors are those of the document.
const { data, error } = await client.GET("/v1/wallets/history", { params: { query: { ...group, ...wallet, limit: 5 } } });
if (error) throw new Error(`${error.error.code}: ${error.error.message}`);
const first: number | undefined = data.data.trades[0]?.value;
if (first === undefined) throw new Error("no trade");

await note("/v1/wallets", client.GET("/v1/wallets", { params: { query: { ...group, limit: 2 } } }));
await note("/v1/wallets/lookup", client.GET("/v1/wallets/lookup", { params: { query: { address } } }));
await note("/v1/wallets/history", client.GET("/v1/wallets/history", { params: { query: { ...group, ...wallet } } }));
await note("/v1/wallets/holdings", client.GET("/v1/wallets/holdings", { params: { query: wallet } }));
await note("/v1/wallet/holdings", client.GET("/v1/wallet/holdings", { params: { query: wallet } }));
await note("/v1/wallets/tracker", client.GET("/v1/wallets/tracker", { params: { query: { ...wallet, period: "6h" } } }));
await note("/v1/wallet/tracking", client.GET("/v1/wallet/tracking", { params: { query: wallet } }));
await note("/v1/wallet/pnl_calendar", client.GET("/v1/wallet/pnl_calendar", { params: { query: wallet } }));
await note("/v1/wallets/connections", client.GET("/v1/wallets/connections", { params: { query: wallet } }));
await note("/v1/transactions/volume", client.GET("/v1/transactions/volume", { params: { query: { ...group, hours: 6 } } }));
await note("/v1/transactions/latest", client.GET("/v1/transactions/latest", { params: { query: group } }));
await note("/v1/transactions/timerange", client.GET("/v1/transactions/timerange", { params: { query: group } }));
await note("/v1/transactions/count", client.GET("/v1/transactions/count", { params: { query: group } }));
const board = { ...group, period: "7d", sort: "win_rate" } as const;
await note("/v1/wallet/leaderboard", client.GET("/v1/wallet/leaderboard", { params: { query: board } }));
await note("/v1/wallets/leaderboard", client.GET("/v1/wallets/leaderboard", { params: { query: board } }));
await note("/v1/tokens/transactions", client.GET("/v1/tokens/transactions", { params: { query: token } }));
await note("/v1/tokens/stats", client.GET("/v1/tokens/stats", { params: { query: token } }));
await note("/v1/tokens/holders", client.GET("/v1/tokens/holders", { params: { query: { ...token, type: "kol" } } }));
const most = { ...group, mode: "most_traded" } as const;
await note("/v1/analytics", client.GET("/v1/analytics", { params: { query: most } }));

console.log(JSON.stringify(statuses));
