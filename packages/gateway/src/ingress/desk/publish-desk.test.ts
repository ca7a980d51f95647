import fc from "fast-check";
import { expect, test } from "vitest";
import { IngressScene } from "../../../test/ingress-scene.ts";
import type { SceneProducer, Went } from "../../../test/ingress-scene.ts";

const TOPICS = ["a/x/one", "a/x/two", "a/y/three", "b/z/four"];

const rate = fc.option(
  fc.record({
    messages: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
    bytes: fc.integer({ min: 200, max: 60_000 }),
  }),
  { nil: undefined },
);

const step = fc.record({
  waitMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(30), fc.nat(700)),
  producer: fc.nat(7),
  messages: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 })),
  bytes: fc.nat(5_000),
});

test("in every window each level lets through at most its rate, one capacity and one frame, in the order of each producer", () => {
  const settings = fc.record({ broker: rate, group: rate, other: rate, topic: rate, def: rate });
  fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 120, size: "max" }), (limits, steps) => {
      const { broker, group, other, topic, def } = limits;
      const scene = new IngressScene({
        broker,
        topicDefault: def,
        topics: topic && { "a/x/one": topic },
        groups: {
          ...(group && { as: { topics: ["a"], ...group } }),
          ...(other && { xs: { topics: ["*/x/*", "b"], ...other } }),
        },
      });
      const clients = [scene.client(), scene.client()];
      const producers = Array.from({ length: 8 }, (_, i) =>
        clients[i % 2]?.open(TOPICS[i >> 1] ?? ""),
      ) as SceneProducer[];
      for (const { waitMs, producer, messages, bytes } of steps) {
        scene.run(scene.nowMs + waitMs);
        producers[producer]?.send(messages, bytes);
        scene.settle();
      }
      scene.run(scene.nowMs + 1e9);
      expect(scene.went.length).toBe(steps.length);
      expect(scene.memory.bytesOf("held")).toBe(0);
      const own = topic ?? def;
      for (const name of TOPICS)
        expectWithin(scene.went, name === "a/x/one" ? own : def, ({ topic: of }) => of === name);
      expectWithin(scene.went, group, ({ topic: of }) => of.startsWith("a/"));
      expectWithin(scene.went, other, ({ topic: of }) => /^(?:a\/x|b)/.test(of));
      expectWithin(scene.went, broker, () => true);
      for (const producer of producers)
        expect(producer.went.map(({ index }) => index)).toEqual(
          producer.went.map((_, index) => index),
        );
    }),
    { numRuns: 150 },
  );
});

function expectWithin(
  all: readonly Went[],
  limit:
    | { readonly messages?: number | undefined; readonly bytes?: number | undefined }
    | undefined,
  isOf: (producer: SceneProducer) => boolean,
): void {
  const went = all.filter(({ producer }) => isOf(producer));
  for (const unit of ["messages", "bytes"] as const) {
    const perSecond = limit?.[unit];
    if (perSecond === undefined) continue;
    let excess = -Infinity;
    for (let first = 0; first < went.length; first++) {
      const from = (went[first] as Went).atMs;
      let sum = 0;
      for (let last = first; last < went.length; last++) {
        const item = went[last] as Went;
        const allowed = (perSecond * (item.atMs - from)) / 1000 + perSecond;
        // Without the last frame, which may leave a debt.
        excess = Math.max(excess, sum - allowed);
        sum += item[unit];
      }
    }
    expect(excess, `${unit} beyond ${perSecond}/s`).toBeLessThanOrEqual(1e-6);
  }
}

/** Keeps `window` frames of each producer offered, as clients with a full window do. */
function saturate(
  scene: IngressScene,
  producers: readonly SceneProducer[],
  untilMs: number,
  size: (producer: number, index: number) => readonly [number, number],
  window = 20,
): void {
  for (;;) {
    producers.forEach((producer, at) => {
      while (producer.sent - wentCount(producer) < window)
        producer.send(...size(at, producer.sent));
    });
    const next = Math.max(scene.nowMs, scene.ingress.wakeAtMs);
    if (next > untilMs) break;
    scene.nowMs = next;
    scene.settle();
    seen(scene);
  }
  scene.nowMs = untilMs;
}

const counts = new WeakMap<SceneProducer, number>();
const lengths = new WeakMap<IngressScene, number>();

function seen(scene: IngressScene): void {
  for (const { producer } of scene.went.slice(lengths.get(scene) ?? 0))
    counts.set(producer, (counts.get(producer) ?? 0) + 1);
  lengths.set(scene, scene.went.length);
}

function wentCount(producer: SceneProducer): number {
  seen(producer.client.scene);
  return counts.get(producer) ?? 0;
}

test.each([1, 3, 100])(
  "the tokens of a limit are all used while %i producers wait for it",
  (count) => {
    const scene = new IngressScene({ topics: { "a/x/one": { messages: 1_000, bytes: 400_000 } } });
    const producers = Array.from({ length: count }, () => scene.client().open("a/x/one"));
    saturate(scene, producers, 6_000, () => [1, 200]);
    const steady = scene.went.filter(({ atMs }) => atMs > 1_000).length;
    expect(steady).toBeGreaterThanOrEqual(5_000 * 0.98);
    expect(steady).toBeLessThanOrEqual(5_000 * 1.02);
    for (let second = 1; second < 6; second++) {
      const inIt = scene.went.filter(({ atMs }) => Math.floor(atMs / 1000) === second).length;
      expect(inIt).toBeLessThanOrEqual(1_050);
    }
  },
);

/** Jain's index: 1 if all have the same. */
function jain(shares: readonly number[]): number {
  const sum = shares.reduce((a, b) => a + b, 0);
  const squares = shares.reduce((a, b) => a + b * b, 0);
  return (sum * sum) / (shares.length * squares);
}

test("100 producers with frames of all sizes get equal bytes of a limit in bytes", () => {
  const scene = new IngressScene({ topicDefault: { bytes: 10_000_000 } });
  const producers = Array.from({ length: 100 }, () => scene.client().open("a/x/one"));
  const sizes = [100_000, 65_536, 200_000, 70_000];
  saturate(scene, producers, 20_000, (at) => [1, sizes[at % 4] ?? 0], 8);
  const shares = producers.map((producer) =>
    producer.went.filter(({ atMs }) => atMs > 1_000).reduce((sum, { bytes }) => sum + bytes, 0),
  );
  expect(jain(shares)).toBeGreaterThanOrEqual(0.99);
});

test("100 producers with batches of all sizes get equal messages of a limit in messages", () => {
  const scene = new IngressScene({ broker: { messages: 2_000 } });
  const producers = Array.from({ length: 100 }, (_, i) => scene.client().open(`a/x/t${i % 10}`));
  saturate(scene, producers, 11_000, (at) => [[1, 5, 20, 50][at % 4] ?? 1, 100], 30);
  const shares = producers.map((producer) =>
    producer.went
      .filter(({ atMs }) => atMs > 1_000)
      .reduce((sum, { messages }) => sum + messages, 0),
  );
  expect(jain(shares)).toBeGreaterThanOrEqual(0.99);
});

test("a topic with a limit of its own does not take the broker's tokens from topics that wait for them", () => {
  const scene = new IngressScene({
    broker: { messages: 100 },
    topicDefault: { messages: 90 },
    topics: { "a/x/free": { bytes: 1e9 } },
  });
  const producers = ["1", "2", "3", "4", "5"].map((name) => scene.client().open(`a/x/${name}`));
  producers.push(scene.client().open("a/x/free"));
  saturate(scene, producers, 31_000, () => [1, 10]);
  const shares = producers.map(({ went }) => went.filter(({ atMs }) => atMs > 1_000).length);
  expect(jain(shares)).toBeGreaterThanOrEqual(0.99);
  expect(shares.reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(3_000 * 0.98);
});

test("a topic that waits does not delay the producers of another", () => {
  const scene = new IngressScene({ topics: { "a/x/hot": { messages: 1 } } });
  const client = scene.client();
  const hot = client.open("a/x/hot");
  const cold = client.open("a/x/cold");
  for (let i = 0; i < 100; i++) hot.send();
  for (let i = 0; i < 100; i++) expect(cold.send()).toBe(true);
  expect(hot.went.length).toBe(1);
});

test("no producer starves beside one whose frames are small or large", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 2, maxLength: 6 }),
      (sizes) => {
        const scene = new IngressScene({ topicDefault: { messages: 100 } });
        const producers = sizes.map(() => scene.client().open("a/x/one"));
        saturate(scene, producers, 60_000, (at) => [sizes[at] ?? 1, 10], 3);
        const shares = producers.map((producer) =>
          producer.went.reduce((sum, { messages }) => sum + messages, 0),
        );
        const most = Math.max(...shares);
        for (const [i, share] of shares.entries())
          expect(most - share).toBeLessThanOrEqual(
            2 * Math.max(...sizes) + 2 * (sizes[i] ?? 0) + 100,
          );
      },
    ),
    { numRuns: 30 },
  );
});

test("a newcomer does not overtake producers that wait", () => {
  const scene = new IngressScene({ topicDefault: { messages: 10 } });
  const waiting = scene.client().open("a/x/one");
  for (let i = 0; i < 12; i++) waiting.send();
  scene.nowMs = 350;
  // Tokens are there, and their turn is the waiting producer's.
  expect(scene.client().open("a/x/one").send()).toBe(false);
  scene.settle();
  const order = scene.went.map(({ producer }) => producer === waiting);
  expect([order.length, order[10], order.filter(Boolean).length]).toEqual([13, true, 12]);
});

test("10,000 producers that wait cost no work until one of them may go", () => {
  const scene = new IngressScene({
    topicDefault: { messages: 1 },
    broker: { messages: 1_000_000 },
  });
  for (let i = 0; i < 10_000; i++) scene.client().open("a/x/one").send();
  const { turns } = scene;
  scene.run(20_000);
  expect(scene.went.length).toBe(21);
  // One wake for each that goes.
  expect(scene.turns - turns).toBeLessThanOrEqual(2 * 21);
});

test("a frame of a hundred thousand messages takes no more work than one", () => {
  const scene = new IngressScene({ topicDefault: { messages: 1_000_000 } });
  const producers = Array.from({ length: 50 }, () => scene.client().open("a/x/one"));
  for (const producer of producers) for (let i = 0; i < 3; i++) producer.send(100_000, 10);
  const { turns } = scene;
  scene.run(60_000);
  expect(scene.went.length).toBe(150);
  expect(scene.turns - turns).toBeLessThanOrEqual(300);
});

test.each(["raised", "removed"])(
  "a limit that is %s lets waiting producers go on at once",
  (how) => {
    const scene = new IngressScene({ topics: { "a/x/one": { messages: 1 } } });
    const producers = Array.from({ length: 10 }, () => scene.client().open("a/x/one"));
    for (const producer of producers) producer.send();
    scene.run(100);
    expect(scene.went.length).toBe(1);
    const target = { level: "topic", name: "a/x/one" } as const;
    if (how === "raised") scene.ingress.limits.set(target, { messages: 1_000 }, scene.nowMs);
    else scene.ingress.limits.unset(target, scene.nowMs);
    expect(scene.ingress.wakeAtMs).toBe(scene.nowMs);
    scene.run(110);
    expect(scene.went.length).toBe(10);
  },
);

test("a change of limits loses no frame, keeps the order of each producer, and leaves nothing behind", () => {
  const target = fc.constantFrom(
    { level: "broker" } as const,
    { level: "group", name: "as" } as const,
    { level: "namespace", name: "a/x" } as const,
    { level: "topic", name: "a/x/one" } as const,
    { level: "default" } as const,
  );
  const change = fc.record({ target, limit: rate });
  const steps = fc.array(fc.oneof({ weight: 4, arbitrary: step }, change), {
    maxLength: 80,
    size: "max",
  });
  fc.assert(
    fc.property(steps, (all) => {
      const scene = new IngressScene({
        groups: { as: { topics: ["a"], messages: 50 } },
        topicDefault: { messages: 20 },
      });
      const client = scene.client();
      const producers = Array.from({ length: 8 }, (_, i) => client.open(TOPICS[i >> 1] ?? ""));
      let sent = 0;
      for (const one of all) {
        if ("target" in one) {
          if (one.limit === undefined) scene.ingress.limits.unset(one.target, scene.nowMs);
          else scene.ingress.limits.set(one.target, one.limit, scene.nowMs);
        } else {
          scene.run(scene.nowMs + one.waitMs);
          producers[one.producer]?.send(one.messages, one.bytes);
          sent++;
        }
      }
      scene.run(scene.nowMs + 1e9);
      expect(scene.went.length).toBe(sent);
      for (const producer of producers)
        expect(producer.went.map(({ index }) => index)).toEqual(producer.went.map((_, i) => i));
      expect([scene.memory.bytesOf("held"), client.throttled, scene.ingress.wakeAtMs]).toEqual([
        0,
        [],
        Infinity,
      ]);
      expect(scene.ingress.waiting(scene.nowMs)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("what is released together with an item that closes its producer is not published", () => {
  const scene = new IngressScene({ topicDefault: { messages: 1 } });
  const client = scene.client();
  const producer = client.open("a/x/one");
  for (let i = 0; i < 5; i++) producer.send();
  const publish = client.publish.bind(client);
  client.publish = (item, nowMs) => {
    publish(item, nowMs);
    producer.close();
  };
  scene.ingress.limits.unset({ level: "default" }, scene.nowMs);
  scene.settle();
  expect(scene.went.length).toBe(2);
  expect(scene.memory.bytesOf("held")).toBe(0);
});
