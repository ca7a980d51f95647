/** A server in a process of its own, so that its work is not counted; it sends its port. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((_request, response) => {
  response.setHeader("content-type", "application/json").end('{"answer":42}');
});
server.listen(0, "127.0.0.1", () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on("disconnect", () => process.exit());
