// Pairs of sockets and nothing else, in a process of its own: what a relayed connection costs Node at least.
// usage: node bare-pairs.mjs UPSTREAM_PORT; IPC as broker-process.mjs, with its memory and the number of pairs.
import { connect, createServer } from "node:net";

const upstreamPort = Number(process.argv[2]);
const pairs = new Set();
const server = createServer((client) => {
  const upstream = connect(upstreamPort, "127.0.0.1");
  const pair = [client, upstream];
  pairs.add(pair);
  for (const socket of pair) {
    const other = socket === client ? upstream : client;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
    socket.on("data", (chunk) => other.write(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      other.destroy();
      pairs.delete(pair);
    });
  }
});
process.on("message", ({ collect }) => {
  if (collect) globalThis.gc?.();
  process.send?.({ ...process.memoryUsage(), stats: { connections: pairs.size } });
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send?.({ ready: server.address().port }));
