import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { expect, test } from "vitest";
import { Descriptors } from "./descriptors.ts";

test("a client is refused by name while only the reserved descriptors are left, and served while there are more", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await once(server, "connection")) as [Socket];
  expect(new Descriptors().refusalOf(socket)).toBeUndefined();
  expect(new Descriptors(Infinity).refusalOf(socket)).toBeUndefined();
  expect(new Descriptors(4).refusalOf(socket)).toMatch(/EMFILE.*4 may be open; raise ulimit -n/);
  client.destroy();
  socket.destroy();
  server.close();
});
