/** Brokers that take nothing, until what clients have sent to them fills the memory of the gateway, whose time is virtual. */
import type { Socket } from "node:net";
import { systemTimer } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { afterEach, expect, test } from "vitest";
import { createOpenSocket } from "../src/upstream/open-socket.ts";
import { passUntil } from "./broker-world.ts";
import { endScene, pairOf, startFront, startScripted } from "./gateway-scene.ts";
import { frameBytes } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

let stop: () => Promise<void> = () => Promise.resolve();

afterEach(async () => {
  await stop();
  await endScene();
});

const CLIENTS = 40;

/** A little more than the 256 KiB that may wait for a broker, so that each client is paused in the end. */
const SENDS = Buffer.concat(
  Array.from({ length: 27 }, (_, at) =>
    frameBytes(
      { kind: "send", body: { producerId: 1n, sequenceId: BigInt(at) } },
      entryOf("x".repeat(10_000)),
    ),
  ),
);

/** Lets time pass, far slower than bytes pass through sockets, until this holds. */
async function slowly(timer: VirtualTimer, isTrue: () => boolean): Promise<void> {
  for (let steps = 0; !isTrue() && steps < 500; steps++) {
    await timer.advance(50);
    await systemTimer.sleep(5);
  }
  expect(isTrue()).toBe(true);
}

// The bytes pass through real sockets, and a busy machine may be slower than the time of the test: three tries.
test(
  "what was not sent on to a broker is free as soon as its client is closed for memory, so that others stay",
  { retry: 2 },
  async () => {
    const broker = await startScripted();
    const timer = new VirtualTimer();
    const openSocket = createOpenSocket(undefined);
    const sockets: Socket[] = [];
    const { gateway, events } = await startFront(
      broker.url,
      { memoryBytesMax: 16_000_000 },
      {
        timer,
        clock: timer,
        open: async (endpoint, signal) => {
          const socket = await openSocket(endpoint, signal);
          sockets.push(socket);
          return socket;
        },
      },
    );
    stop = () => passUntil(timer, gateway.close());
    const isExhausted = (): boolean =>
      gateway.stats().memoryBytes > 0.75 * gateway.stats().memoryBytesMax;
    const clients = [];
    for (let count = 0; count < CLIENTS; count++) {
      const [client, peer] = await pairOf({ gateway, events }, broker);
      client.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
      await peer.next("producer");
      peer.send("producerSuccess", { requestId: 1n, producerName: "p" });
      await client.next("producerSuccess");
      clients.push(client);
    }
    // The system takes no byte more.
    for (const socket of sockets) Object.assign(socket, { _write: () => {}, _writev: () => {} });
    for (const { socket } of clients) socket.write(SENDS);
    const isSettled = (): boolean =>
      gateway.stats().connections === gateway.stats().pausedConnections;
    // Above 15/16 connections are closed at once, above 3/4 after some seconds, whenever the bytes arrive.
    await slowly(timer, isSettled);
    await slowly(timer, () => !isExhausted());
    expect(gateway.stats().memoryPeakBytes).toBeLessThanOrEqual(gateway.stats().memoryBytesMax);
    const closed = events.filter(({ kind }) => kind === "client-closed").length;
    expect(closed).toBeGreaterThan(0);
    expect(closed).toBeLessThan(CLIENTS / 2);
  },
);
