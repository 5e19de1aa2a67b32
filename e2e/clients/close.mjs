// A real TypeScript client: connects, lists, calls, closes as its SDK closes.
//
//   node close.mjs sdk|client CALLS COMMAND ARGS...
//
// sdk is the 1.x package, client the 2.x one. Prints "closed" when close() is done.
const [generation, calls, command, ...args] = process.argv.slice(2);
const [{ Client }, { StdioClientTransport }] = await Promise.all(
  generation === "sdk"
    ? [import("@modelcontextprotocol/sdk/client/index.js"), import("@modelcontextprotocol/sdk/client/stdio.js")]
    : [import("@modelcontextprotocol/client"), import("@modelcontextprotocol/client/stdio")],
);
const client = new Client({ name: `close-${generation}`, version: "1" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
const { tools } = await client.listTools();
if (tools.length !== 1) throw new Error(`${tools.length} tools`);
for (let n = 0; n < Number(calls); n++) {
  const { content } = await client.callTool({ name: "echo", arguments: { n } });
  if (content[0].text !== String(n)) throw new Error(`call ${n}: ${JSON.stringify(content)}`);
}
await client.close();
console.log("closed");
