import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createSocketDial } from "../src/client/connection/socket-transport.ts";
import type { Transport } from "../src/client/connection/transport.ts";

const server = createServer();
let peers: Socket[] = [];

afterEach(async () => {
  for (const peer of peers) peer.destroy();
  peers = [];
  server.close();
  await once(server, "close");
});

/** A transport and the socket at its other end, which reads nothing yet. */
async function link(): Promise<{ transport: Transport; peer: Socket }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const arrived = once(server, "connection");
  const endpoint = { host: "127.0.0.1", port, isTls: false };
  const transport = await createSocketDial()(endpoint, new AbortController().signal);
  const [peer] = (await arrived) as [Socket];
  peers.push(peer);
  return { transport, peer };
}

test("write answers false above 1 MiB of unsent bytes, and onDrain follows", async () => {
  const { transport, peer } = await link();
  const events: string[] = [];
  const drained = new Promise<void>((resolve) => {
    transport.start({
      onData: (bytes) => events.push(`data ${bytes.toString()}`),
      onDrain: resolve,
      onClose: () => events.push("closed"),
    });
  });
  let writtenBytes = 0;
  const piece = Buffer.alloc(65_536);
  do writtenBytes += piece.length;
  while (transport.write(piece) && writtenBytes < 64 * 1_048_576);
  expect(writtenBytes).toBeLessThanOrEqual(1_048_576);
  let unreadBytes = writtenBytes;
  const allRead = new Promise<void>((resolve) => {
    peer.on("data", (bytes: Buffer) => {
      unreadBytes -= bytes.length;
      if (unreadBytes === 0) resolve();
    });
  });
  await drained;
  await allRead;
  transport.close();
  await once(peer, "close");
  expect(events).toEqual([]);
});

test("the peer's bytes arrive, and its end once", async () => {
  const { transport, peer } = await link();
  const events: string[] = [];
  const closed = new Promise<void>((resolve) => {
    transport.start({
      onData: (bytes) => events.push(`data ${bytes.toString()}`),
      onDrain: () => events.push("drain"),
      onClose: (cause) => {
        events.push(`closed ${cause?.message ?? "in order"}`);
        resolve();
      },
    });
  });
  peer.end("bye");
  await closed;
  transport.close();
  expect(events).toEqual(["data bye", "closed in order"]);
});
