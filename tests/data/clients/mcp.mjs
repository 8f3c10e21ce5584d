// Lists and calls all tools with the official client of MCP, and checks its connection by a ping.
import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_PATH}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const { URL_OF_MCP, KEY, VALUES } = process.env;
const values = JSON.parse(VALUES);
const client = new Client({ name: "test", version: "1" });
const requestInit = { headers: { Authorization: `Bearer ${KEY}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(URL_OF_MCP), { requestInit }));
await client.ping();
const { tools } = await client.listTools();
for (const tool of tools) {
  const wanted = Object.keys(tool.inputSchema.properties).filter(
    (name) => tool.inputSchema.required.includes(name) || ["blockchain", "type", "period"].includes(name),
  );
  const given = values[tool.name] ?? {};
  const args = Object.fromEntries(wanted.map((name) => [name, given[name] ?? values[name]]));
  const result = await client.callTool({ name: tool.name, arguments: args });
  if (result.isError) throw new Error(`${tool.name}: ${result.content[0].text}`);
  JSON.parse(result.content[0].text);
}
const wrong = await client.callTool({ name: "list_wallets", arguments: { days: 1 } });
if (!wrong.isError) throw new Error("an unknown argument is no error");
await client.ping();
console.log(`${client.getServerVersion().name} ${tools.length}`);
await client.close();
