import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IngressScene } from "../../../test/ingress-scene.ts";
import type { SceneClient, SceneProducer } from "../../../test/ingress-scene.ts";

const LIMIT = { topicDefault: { messages: 100 } };

/** Sends until a notice comes; answers how many SENDs it took. */
function sendUntilTold(client: SceneClient, producer: SceneProducer): number {
  const before = client.notices.length;
  let sent = 0;
  while (client.notices.length === before && sent < 1_000) {
    producer.send();
    sent++;
  }
  return sent;
}

function confirm(client: SceneClient): void {
  const last = client.notices.at(-1);
  if (last !== undefined) client.connection.receipt(last.requestId, client.scene.nowMs);
}

describe("a notice", () => {
  test("comes early, says why and how long, and leaves enough for the SENDs on their way", () => {
    const scene = new IngressScene(LIMIT);
    const client = scene.client(true);
    const producer = client.open("t");
    expect(sendUntilTold(client, producer)).toBe(98);
    // From 2 tokens to 4 of 100.
    expect(client.notices).toEqual([
      { requestId: 1n, producerId: 1n, reason: "topic-rate", pauseMs: 20 },
    ]);
    for (let i = 0; i < 2; i++) expect(producer.send()).toBe(true);
  });

  test("comes at the threshold that is set, and is no longer than the longest pause", () => {
    const throttle = { earlyPercent: 20, resumePercent: 50, pauseMaxMs: 100 };
    const scene = new IngressScene({ ...LIMIT, throttle });
    const client = scene.client(true);
    // Below 20 of 100 tokens; 31 more would take 310 ms.
    expect(sendUntilTold(client, client.open("t"))).toBe(81);
    expect(client.notices.at(-1)?.pauseMs).toBe(100);
  });

  test("goes to all active producers of the topic, of the group, or of the broker, and to no others", () => {
    const scene = new IngressScene({
      topics: { "a/x/t": { messages: 100 } },
      groups: { g: { topics: ["a/x"], messages: 1_000 } },
      broker: { messages: 5_000 },
    });
    const names = ["a/x/t", "a/x/t", "a/x/u", "b/y/v"];
    const clients = names.map(() => scene.client(true));
    const producers = clients.map((client, i) => client.open(names[i] ?? ""));
    const plain = scene.client().open("a/x/t");
    for (const producer of [...producers, plain]) producer.send();
    const told = (): (string | undefined)[] => clients.map(({ notices }) => notices.at(-1)?.reason);
    for (let i = 0; i < 96; i++) plain.send();
    expect(told()).toEqual(["topic-rate", "topic-rate", undefined, undefined]);
    scene.run(500);
    const fromU = scene.client().open("a/x/u");
    for (const producer of producers) producer.send();
    fromU.send(975);
    fromU.send();
    expect(told()).toEqual(["group-rate", "group-rate", "group-rate", undefined]);
    scene.run(900);
    for (const producer of producers) producer.send();
    scene.client().open("b/y/w").send(4_900);
    expect(told()[3]).toBe("broker-rate");
  });

  test("does not go to a producer that has sent nothing for a second, nor to a client that does not know it", () => {
    const scene = new IngressScene(LIMIT);
    const silent = scene.client(true);
    silent.open("t").send();
    const plain = scene.client();
    const producer = plain.open("t");
    scene.run(1_100);
    for (let i = 0; i < 200; i++) producer.send();
    expect([silent.notices, plain.notices]).toEqual([[], []]);
  });

  test("is not repeated while the end of the pause stays, and is when it moves", () => {
    const scene = new IngressScene({ topicDefault: { messages: 1_000 } });
    const client = scene.client(true);
    const producer = client.open("t");
    sendUntilTold(client, producer);
    const other = scene.client().open("t");
    scene.run(11);
    for (let i = 0; i < 5; i++) other.send();
    expect(client.notices.length).toBe(1);
    scene.run(25);
    // They were on their way, and are held.
    for (let i = 0; i < 100; i++) producer.send();
    scene.run(40);
    expect(client.notices.length).toBeGreaterThan(1);
    expect(client.notices.at(-1)?.pauseMs).toBeGreaterThan(26);
  });

  test("ends the pause at once when the limit is raised or removed", () => {
    for (const how of ["raised", "removed"]) {
      const scene = new IngressScene({ topics: { t: { messages: 100 } } });
      const client = scene.client(true);
      sendUntilTold(client, client.open("t"));
      confirm(client);
      const target = { level: "topic", name: "t" } as const;
      if (how === "removed") scene.ingress.limits.unset(target, 5);
      else scene.ingress.limits.set(target, { messages: 100_000 }, 5);
      const last = client.notices.at(-1);
      expect([client.notices.length, last?.reason]).toEqual([2, "topic-rate"]);
      expect(last?.pauseMs).toBe(0);
    }
  });

  test("is not meant for a producer that was made anew", () => {
    const scene = new IngressScene(LIMIT);
    const client = scene.client(true);
    const producer = client.open("t");
    sendUntilTold(client, producer);
    confirm(client);
    producer.close();
    client.open("t").send();
    expect(scene.ingress.noticeCounts.violations).toBe(0);
  });

  test("for the connection tells why the socket is not read, with pause 0", () => {
    const scene = new IngressScene({
      ...LIMIT,
      connection: { heldBytes: 1_000, pendingMessages: 50 },
    });
    const client = scene.client(true);
    client.storesAtOnce = false;
    const producer = client.open("t");
    for (let i = 0; i < 50; i++) producer.send();
    expect(client.notices.at(-1)).toMatchObject({ reason: "connection-pending", pauseMs: 0 });
    scene.run(1_000);
    for (let i = 0; i < 120; i++) producer.send();
    expect(client.notices.at(-1)).toMatchObject({ reason: "memory", pauseMs: 0 });
  });

  test("for the connection comes once a second at most, to producers that send", () => {
    const scene = new IngressScene({
      topicDefault: { messages: 10 },
      connection: { heldBytes: 1 },
    });
    const client = scene.client(true);
    const [noisy, silent] = [client.open("t"), client.open("u")];
    silent.send();
    for (let nowMs = 0; nowMs < 5_000; nowMs += 20) {
      scene.run(nowMs);
      for (const { requestId } of client.notices) client.connection.receipt(requestId, nowMs);
      // Reading stops with each of them.
      if (client.connection.isReading) noisy.send();
    }
    const informed = client.notices.filter(({ reason }) => reason === "memory");
    expect(informed.filter(({ producerId }) => producerId === 1n)).toHaveLength(5);
    expect(informed.filter(({ producerId }) => producerId === 2n)).toHaveLength(1);
  });
});

describe("a receipt", () => {
  test("in time makes SENDs before the end of the pause violations", () => {
    const scene = new IngressScene(LIMIT);
    const client = scene.client(true);
    const producer = client.open("t");
    sendUntilTold(client, producer);
    // On its way when the notice came.
    producer.send();
    confirm(client);
    expect(scene.ingress.noticeCounts).toMatchObject({ receipts: 1, violations: 0 });
    producer.send();
    producer.send();
    expect(scene.ingress.noticeCounts).toMatchObject({ violations: 1 });
  });

  test("that is missing counts once per notice; after ten in a row no more are sent", () => {
    const scene = new IngressScene(LIMIT);
    const client = scene.client(true);
    const producer = client.open("t");
    for (let i = 0; i < 4_000; i++) {
      producer.send();
      scene.run(scene.nowMs + 5);
    }
    expect(client.notices.length).toBe(10);
    expect(scene.ingress.noticeCounts.unheeded).toBe(10);
    // It is held like all others, and loses nothing.
    scene.run(scene.nowMs + 60_000);
    expect(producer.went.length).toBe(4_000);
  });

  test("that is late counts, so that notices go on", () => {
    const scene = new IngressScene(LIMIT);
    const client = scene.client(true);
    const producer = client.open("t");
    for (let i = 0; i < 4_000; i++) {
      producer.send();
      scene.run(scene.nowMs + 5);
      if (i % 60 === 59) confirm(client);
    }
    expect(client.notices.length).toBeGreaterThan(20);
    expect(scene.ingress.noticeCounts.unheeded).toBeGreaterThan(0);
  });

  test("of a notice that was never sent is counted, and the hundred and first ends the connection", () => {
    const scene = new IngressScene(LIMIT);
    const client = scene.client(true);
    for (let i = 1n; i <= 100n; i++) client.connection.receipt(1_000n + i, 0);
    expect([scene.ingress.noticeCounts.forgedReceipts, client.closed]).toEqual([100, undefined]);
    client.connection.receipt(2n ** 64n - 1n, 0);
    expect(client.closed).toContain("receipts");
  });

  test("that is repeated changes nothing", () => {
    const scene = new IngressScene(LIMIT);
    const client = scene.client(true);
    sendUntilTold(client, client.open("t"));
    for (let i = 0; i < 500; i++) confirm(client);
    expect(scene.ingress.noticeCounts).toMatchObject({ receipts: 1, forgedReceipts: 0 });
    expect(client.closed).toBeUndefined();
  });

  test("of any kind never lets more through than the limit", () => {
    const step = fc.record({
      waitMs: fc.nat(60),
      sends: fc.nat(20),
      receipt: fc.option(fc.oneof(fc.constant("last" as const), fc.bigInt({ min: 0n, max: 40n }))),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
        const scene = new IngressScene(LIMIT);
        const client = scene.client(true);
        const producer = client.open("t");
        for (const { waitMs, sends, receipt } of steps) {
          scene.run(scene.nowMs + waitMs);
          for (let i = 0; i < sends; i++) producer.send();
          if (receipt === "last") confirm(client);
          else if (receipt !== null) client.connection.receipt(receipt, scene.nowMs);
        }
        expect(scene.went.length).toBeLessThanOrEqual(100 + scene.nowMs / 10 + 1);
        const { sent } = scene.ingress.noticeCounts;
        expect(sent).toBe(client.notices.length);
        expect(client.notices.map(({ requestId }) => requestId)).toEqual(
          client.notices.map((_, i) => BigInt(i + 1)),
        );
      }),
    );
  });
});

test("producers that comply are hardly ever held, and use the limit", () => {
  const scene = new IngressScene({ topicDefault: { messages: 1_000 } });
  const clients = Array.from({ length: 10 }, () => scene.client(true));
  const producers = clients.map((client) => client.open("t"));
  const RTT_MS = 4;
  const pausedUntil = clients.map(() => 0);
  const heard = clients.map(() => 0);
  let heldMax = 0;
  for (let nowMs = 0; nowMs < 10_000; nowMs++) {
    scene.run(nowMs);
    clients.forEach((client, i) => {
      for (const notice of client.notices.slice(heard[i])) {
        if (nowMs - RTT_MS / 2 < 0) break;
        pausedUntil[i] = nowMs + RTT_MS / 2 + notice.pauseMs;
        client.connection.receipt(notice.requestId, nowMs);
      }
      heard[i] = client.notices.length;
      if (nowMs >= (pausedUntil[i] ?? 0)) producers[i]?.send();
    });
    heldMax = Math.max(heldMax, scene.memory.bytesOf("held"));
  }
  expect(clients.flatMap(({ throttled }) => throttled)).toEqual([]);
  // 10 producers × 1 message per ms × one round trip.
  expect(heldMax).toBeLessThanOrEqual(10 * RTT_MS * 100);
  expect(scene.went.length).toBeGreaterThan(10_000 * 0.95);
  expect(scene.ingress.noticeCounts).toMatchObject({ violations: 0, unheeded: 0 });
});
