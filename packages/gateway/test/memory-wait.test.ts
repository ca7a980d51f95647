/** Clients that keep memory in use and do nothing more. The server's time is virtual; sockets are real. */
import { expect, onTestFinished, test } from "vitest";
import { startTestBroker } from "./broker-world.ts";
import { until } from "./gateway-scene.ts";
import { frameBytes, RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

/** A part of a frame that never ends; too small to need room of its own. */
const BEGUN = frameBytes(
  { kind: "send", body: { producerId: 1n, sequenceId: 0n } },
  entryOf("x".repeat(62_000)),
).subarray(0, 60_000);

/** Much less than the 30 s after which clients give a SEND up, and after which a frame that does not end is closed. */
const WAIT_MS = 6_000;

test("clients that fill the memory with frames they do not end delay a large SEND of another client by seconds only", async () => {
  const broker = await startTestBroker({ memoryBytesMax: 16_000_000 });
  onTestFinished(() => broker.close());
  const isExhausted = (): boolean =>
    broker.stats().memoryBytes > 0.75 * broker.stats().memoryBytesMax;
  const honest = await RawClient.connected(broker.port);
  honest.send("producer", { topic: "t", producerId: 1n, requestId: 1n });
  await honest.next("producerSuccess");
  while (!isExhausted()) {
    const { socket } = await RawClient.connected(broker.port);
    onTestFinished(() => void socket.destroy());
    const before = broker.stats().memoryByUse["partial-frame"];
    socket.write(BEGUN);
    await until(() => broker.stats().memoryByUse["partial-frame"] >= before + BEGUN.length);
  }
  const { connections } = broker.stats();
  const waiting = broker.stats().pausedConnections + 1;
  honest.send("send", { producerId: 1n, sequenceId: 1n }, entryOf("x".repeat(30_000)));
  await until(() => broker.stats().pausedConnections === waiting);
  await broker.timer.advance(WAIT_MS);
  expect(await honest.next("sendReceipt")).toMatchObject({ sequenceId: 1n });
  expect(isExhausted()).toBe(false);
  // Only as many are closed as are in the way.
  expect(broker.stats().connections).toBeGreaterThan(connections * 0.7);
});
