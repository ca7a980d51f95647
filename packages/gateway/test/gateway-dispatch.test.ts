/** Dispatch limits of a gateway in front of a cluster, on real sockets: a broker that is played by hand. */
import { VirtualTimer } from "@sluice/core/testing";
import { SUB_TYPE } from "@sluice/pulsar/wire";
import { afterEach, expect, test } from "vitest";
import { endScene, pairOf, startFront, startScripted } from "./gateway-scene.ts";
import type { RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

afterEach(endScene);

/** Sends a message for each permit that comes, until no more come. Answers how many. */
async function deliver(peer: RawClient): Promise<number> {
  let delivered = 0;
  for (;;) {
    let permits = 0;
    peer.send("ping", {});
    for (;;) {
      const { command } = await peer.nextAny();
      if (command.kind === "pong") break;
      if (command.kind === "flow") permits += command.body.messagePermits;
    }
    if (permits === 0) return delivered;
    delivered += permits;
    const messageId = { ledgerId: 1n, entryId: BigInt(delivered) };
    for (let i = 0; i < permits; i++)
      peer.send("message", { consumerId: 1n, messageId }, entryOf("x"));
  }
}

test("a cluster is asked for no more messages than the limit of a subscription allows", async () => {
  const timer = new VirtualTimer();
  const broker = await startScripted();
  const front = await startFront(
    broker.url,
    { limits: { dispatch: { subscriptionDefault: { messages: 10 } } } },
    { timer, clock: timer },
  );
  const [client, peer] = await pairOf(front, broker);
  const subscribe = { topic: "t", subscription: "s", subType: SUB_TYPE.shared, consumerId: 1n };
  client.send("subscribe", { ...subscribe, requestId: 1n });
  await peer.next("subscribe");
  peer.send("success", { requestId: 1n });
  await client.next("success");
  client.send("flow", { consumerId: 1n, messagePermits: 1_000 });
  client.send("ping", {});
  await client.next("pong");
  expect(await deliver(peer)).toBe(10);
  let delivered = 0;
  for (let step = 0; step < 50; step++) {
    await timer.advance(100);
    delivered += await deliver(peer);
  }
  expect(delivered).toBeLessThanOrEqual(50);
  expect(delivered).toBeGreaterThanOrEqual(48);
});

test("a consumer that subscribes too often is told how long to wait, and the cluster is not asked", async () => {
  const broker = await startScripted();
  const front = await startFront(broker.url, {
    limits: { subscribe: { default: { subscribes: 1 } } },
  });
  const [client, peer] = await pairOf(front, broker);
  const subscribe = { topic: "t", subscription: "s", subType: SUB_TYPE.shared, consumerId: 1n };
  client.send("subscribe", { ...subscribe, requestId: 1n });
  await peer.next("subscribe");
  peer.send("error", { requestId: 1n, error: 0, message: "no" });
  await client.next("error");
  client.send("subscribe", { ...subscribe, requestId: 2n });
  const { message } = await client.next("error");
  expect(message).toMatch(/1 times in 30 s; try again in/);
});
