import fc from "fast-check";
import { expect, test } from "vitest";
import { IngressScene } from "../../../test/ingress-scene.ts";
import type { SceneClient } from "../../../test/ingress-scene.ts";

const MIB = 1024 * 1024;

function oldestMs(scene: IngressScene): number {
  const ages = [...scene.ingress.waitingFlows].map(
    ({ held }) => scene.nowMs - (held?.peek()?.heldAtMs ?? scene.nowMs),
  );
  return Math.max(0, ...ages);
}

test("reading stops at the bound of held bytes and goes on below it; one frame at most is above", () => {
  const step = fc.record({
    waitMs: fc.nat(400),
    frames: fc.nat(6),
    bytes: fc.integer({ min: 1, max: 900 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const scene = new IngressScene({
        topicDefault: { messages: 5 },
        connection: { heldBytes: 2_000 },
      });
      const client = scene.client();
      const producers = [client.open("a"), client.open("b")];
      for (const { waitMs, frames, bytes } of steps) {
        scene.run(scene.nowMs + waitMs);
        for (let i = 0; i < frames && client.connection.isReading; i++)
          producers[i % 2]?.send(1, bytes);
        expect(client.connection.heldBytes).toBeLessThan(2_000 + 900);
        expect(scene.memory.bytesOf("held")).toBe(client.connection.heldBytes);
        expect(client.throttled.length > 0).toBe(!client.connection.isReading);
      }
      scene.run(scene.nowMs + 1e6);
      expect([client.throttled, client.connection.heldBytes]).toEqual([[], 0]);
      expect(client.connection.pauses(scene.nowMs).every(({ isPaused }) => !isPaused)).toBe(true);
    }),
  );
});

test("a client with a full window is read on, one frame per receipt, however old its oldest frame is", () => {
  const scene = new IngressScene({ topicDefault: { messages: 10 }, maxHoldMs: 1_000 });
  const client = scene.client();
  const producer = client.open("hot");
  // Its age will be ten seconds, its window is never exceeded.
  for (let i = 0; i < 110; i++) producer.send();
  let acked = 10;
  for (let step = 0; step < 300; step++) {
    scene.run(scene.nowMs + 100);
    for (; acked < scene.went.length; acked++) producer.send();
    expect(client.throttled).toEqual([]);
  }
  expect(scene.went.length).toBeGreaterThan(300);
});

test("a client with a full window in messages is read on, also when its batches become smaller", () => {
  const scene = new IngressScene({ topicDefault: { messages: 10 }, maxHoldMs: 1_000 });
  const client = scene.client();
  const producer = client.open("hot");
  // A window of 100 messages: two batches while all of it is free, single messages from then on.
  for (let i = 0; i < 3; i++) producer.send(50, 1_000);
  let acked = 1;
  for (let step = 0; step < 300; step++) {
    scene.run(scene.nowMs + 100);
    for (; acked < scene.went.length; acked++)
      for (let i = 0; i < (scene.went[acked]?.messages ?? 0); i++) producer.send(1, 80);
    expect(client.throttled).toEqual([]);
  }
  expect(scene.went.length).toBeGreaterThan(150);
});

test("a producer whose oldest frame is too old pauses the socket once it grows, and resumes as it shrinks", () => {
  const scene = new IngressScene({ topicDefault: { messages: 10 }, maxHoldMs: 1_000 });
  const client = scene.client();
  const producer = client.open("hot");
  for (let i = 0; i < 40; i++) producer.send();
  scene.run(999);
  producer.send();
  expect(client.throttled).toEqual([]);
  scene.run(1_050);
  // It held 21 when its oldest became a second old.
  while (client.throttled.length === 0) producer.send();
  expect([client.throttled, client.connection.isReading]).toEqual([["topic-rate"], false]);
  scene.run(1_200);
  expect(client.throttled).toEqual([]);
  expect(client.connection.pauses(scene.nowMs)).toMatchObject([
    { reason: "topic-rate", causeTopic: "hot", isPaused: false, victimTopics: [] },
  ]);
});

test("a producer within its limits is not paused for the age of another's frames before four times the bound", () => {
  const step = fc.record({ waitMs: fc.nat(60), frames: fc.nat(12) });
  let aged = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const scene = new IngressScene({ topics: { hot: { messages: 100 } }, maxHoldMs: 100 });
      const client = scene.client();
      const [noisy, victim] = [client.open("hot"), client.open("cold")];
      for (let i = 0; i < 100; i++) noisy.send();
      for (const { waitMs, frames } of steps) {
        scene.run(scene.nowMs + waitMs);
        expect(client.connection.isReading || oldestMs(scene) > 400).toBe(true);
        if (!client.connection.isReading) continue;
        expect(victim.send()).toBe(true);
        for (let i = 0; i < frames && client.throttled.length === 0; i++) noisy.send();
        if (oldestMs(scene) > 100) aged++;
      }
    }),
  );
  expect(aged).toBeGreaterThan(0);
});

test("a producer that falls silent no longer delays the pause for age, which ends with the next release", () => {
  const scene = new IngressScene({ topics: { hot: { messages: 10 } }, maxHoldMs: 1_000 });
  const client = scene.client();
  const [noisy, victim] = [client.open("hot"), client.open("cold")];
  for (let i = 0; i < 30; i++) noisy.send();
  for (let nowMs = 100; nowMs <= 2_500; nowMs += 100) {
    scene.run(nowMs);
    victim.send();
    for (let i = 0; i < 2; i++) noisy.send();
    expect(client.throttled).toEqual([]);
  }
  scene.run(3_600);
  while (client.throttled.length === 0) noisy.send();
  scene.run(3_900);
  expect(client.throttled).toEqual([]);
});

test("all connections hold at most half of the memory, and go on when there is room", () => {
  const scene = new IngressScene({ topicDefault: { messages: 10 } }, 16 * MIB);
  const clients = Array.from({ length: 40 }, () => scene.client());
  const producers = clients.map((client) => client.open("hot"));
  for (let round = 0; round < 100; round++)
    producers.forEach((producer, i) => {
      if (clients[i]?.connection.isReading === true) producer.send(1, 50_000);
    });
  expect(scene.memory.bytesOf("held")).toBeLessThanOrEqual(8 * MIB + 40 * 50_000);
  expect(clients.every(({ throttled }) => throttled.includes("memory"))).toBe(true);
  scene.run(1_000_000);
  expect(clients.flatMap(({ throttled }) => throttled)).toEqual([]);
});

test("many connections with one large frame each leave three eighths of the memory to others; those beyond are closed", () => {
  const scene = new IngressScene({ topicDefault: { messages: 1 } }, 64 * MIB);
  const clients = Array.from({ length: 200 }, () => scene.client());
  for (const client of clients) {
    client.open("hot").send(1, MIB);
    if (client.closed !== undefined) client.connection.end(scene.nowMs);
    expect(scene.memory.bytesOf("held")).toBeLessThanOrEqual((5 / 8) * 64 * MIB);
  }
  const closed = clients.filter((client) => client.closed !== undefined);
  // One frame went at once, 40 are held.
  expect(closed.length).toBe(200 - 41);
  expect(
    closed.every((client) => client.closed === "held SENDs of all clients fill the memory"),
  ).toBe(true);
  scene.run(1_000_000);
  expect([scene.went.length, scene.memory.bytesOf("held")]).toEqual([41, 0]);
});

test("pending publishes stop reading at their bound and resume at half, also when held frames add to them", () => {
  const step = fc.oneof(fc.constant("send"), fc.constant("settle"), fc.constant("pass"));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const scene = new IngressScene({
        topicDefault: { messages: 8 },
        connection: { pendingMessages: 6 },
      });
      const client = scene.client();
      client.storesAtOnce = false;
      const producer = client.open("t");
      const { connection } = client;
      for (const one of steps) {
        if (one === "send" && connection.isReading) producer.send();
        else if (one === "settle" && connection.pending > 0) connection.settled(scene.nowMs);
        else if (one === "pass") scene.run(scene.nowMs + 300);
        if (connection.pending >= 6) expect(connection.reasons).toContain("connection-pending");
        if (connection.pending <= 3) expect(connection.reasons).not.toContain("connection-pending");
      }
      scene.run(scene.nowMs + 1e6);
      while (connection.pending > 0) connection.settled(scene.nowMs);
      expect([connection.reasons, client.throttled]).toEqual([[], []]);
    }),
  );
});

test("a connection that ends leaves nothing: no bytes, no waiting flow, no pause of others", () => {
  const scene = new IngressScene({
    topicDefault: { messages: 1 },
    connection: { heldBytes: 1_000 },
  });
  const client = scene.client();
  const producers = ["a", "b"].map((topic) => client.open(topic));
  for (let i = 0; i < 20; i++) for (const producer of producers) producer.send();
  expect(client.throttled).toEqual(["topic-rate"]);
  const { length } = scene.went;
  client.connection.end(scene.nowMs);
  scene.run(100_000);
  expect([scene.went.length, scene.memory.bytesOf("held")]).toEqual([length, 0]);
  expect([scene.ingress.wakeAtMs, scene.ingress.waiting(0), scene.ingress.pauses(0)]).toEqual([
    Infinity,
    [],
    [],
  ]);
  expect(client.connection.isReading).toBe(true);
});

test("operators see who waits for which limiter, since when, and how long each topic was limited", () => {
  const scene = new IngressScene({
    groups: { analytics: { topics: ["a/x"], messages: 10 } },
  });
  const client = scene.client();
  const producer = client.open("a/x/t");
  scene.run(1_000);
  for (let i = 0; i < 30; i++) producer.send(1, 50);
  scene.run(1_500);
  expect(scene.ingress.waiting(1_500)).toMatchObject([
    {
      topic: "a/x/t",
      reason: "group-rate",
      limiter: "group analytics",
      limit: { messages: 10 },
      sinceMs: 1_000,
      untilMs: 3_100,
      producerCount: 1,
      heldFrames: 15,
      heldBytes: 750,
      producers: [{ name: "p1", address: "client-plain", isAware: false, released: 5 }],
    },
  ]);
  scene.run(10_000);
  const [total] = scene.ingress.limitedTotals(10_000);
  expect(total).toMatchObject({
    topic: "persistent://a/x/t",
    reason: "group-rate",
    limiter: "group analytics",
    frames: 20,
  });
  expect(total?.limitedMs).toBeCloseTo(2_000, 0);
});

/** The budget of a process with the default memory. */
const BUDGET = 192 * MIB;

/** Frames of 128 KiB at once on a topic that lets one through a second; true if the socket was never paused. */
function flood(client: SceneClient, mib: number): boolean {
  const producer = client.open("hot");
  for (let sent = 0; sent < mib * 8 && client.connection.isReading; sent++)
    producer.send(1, MIB / 8);
  return client.connection.isReading;
}

test("a client that sends 64 MiB at once, as Java's does by default, is read on", () => {
  const scene = new IngressScene({ topicDefault: { messages: 1 } }, BUDGET);
  const client = scene.client();
  expect(flood(client, 64)).toBe(true);
  const victim = client.open("cold");
  expect(victim.send()).toBe(true);
});

test("many clients that flood take half of the memory together: the first more than 64 MiB, the second 15 at least", () => {
  const scene = new IngressScene({ topicDefault: { messages: 1 } }, BUDGET);
  const clients = Array.from({ length: 20 }, () => scene.client());
  for (const client of clients) flood(client, 128);
  const heldBytes = clients.map(({ connection }) => connection.heldBytes);
  const held = scene.memory.bytesOf("held");
  expect(heldBytes[0]).toBeGreaterThan(64 * MIB);
  expect(heldBytes[1]).toBeGreaterThan(15 * MIB);
  // Each adds one frame before it is paused.
  expect(held).toBeLessThanOrEqual(BUDGET / 2 + (20 * MIB) / 8);
  expect(clients.every(({ connection }) => !connection.isReading)).toBe(true);
});

test("a client whose bound has fallen below what it holds is read again after 2 MiB, not after 60", () => {
  const scene = new IngressScene({ topics: { hot: { bytes: MIB }, other: { bytes: 1 } } }, BUDGET);
  const client = scene.client();
  flood(client, 60);
  const other = scene.client().open("other");
  while (other.client.connection.isReading) other.send(1, MIB / 8);
  const producer = client.open("hot");
  producer.send(1, MIB / 8);
  expect(client.connection.isReading).toBe(false);
  scene.run(scene.nowMs + 5_000);
  expect(client.connection.isReading).toBe(true);
  expect(client.connection.heldBytes).toBeGreaterThan(50 * MIB);
});
