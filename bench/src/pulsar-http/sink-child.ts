/** A service that takes every request and answers 200. It says its address, and ends with its input. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((request, response) => {
  request.resume();
  request.once("end", () => response.end());
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
process.stdin.resume();
process.stdin.once("end", () => process.exit(0));
