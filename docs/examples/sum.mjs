// What the KOLs bought in the last hour, to the last digit.
const query = { blockchain: "solana", type: "kol", hours: 1, limit: 1000, amounts: "string" };
const response = await fetch(`${process.env.API}/v1/transactions/timerange?${new URLSearchParams(query)}`, {
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});
if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
// Values have nine decimals at most: whole numbers of billionths.
const billionths = (text) => BigInt(text.replace(/^(-?\d+)\.?(\d*)$/, (_, whole, rest) => whole + rest.padEnd(9, "0")));
const buys = (await response.json()).data.transactions.filter((trade) => trade.transaction_type === "buy");
const sum = String(buys.reduce((sum, trade) => sum + billionths(trade.value), 0n)).padStart(10, "0");
console.log(`${buys.length} buys for ${sum.slice(0, -9)}.${sum.slice(-9)} SOL`);
