import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { MemoryStore, StoreError } from "@sluice/fleet";
import type { PoolStore } from "@sluice/fleet";
import { afterEach, describe, expect, test } from "vitest";
import { IngressScene } from "../../../test/ingress-scene.ts";
import type { SceneProducer } from "../../../test/ingress-scene.ts";
import type { BrokerEvent } from "../../observe/broker-event.ts";
import { describeEvent } from "../../observe/describe-event.ts";
import { GroupShares } from "./group-shares.ts";
import { SharedTokens } from "./shared-tokens.ts";
import { StoreNotice } from "./store-notice.ts";

const RATE = 300;
const MAX_MEMBERS = 8;
const GROUP = { level: "group", name: "g" } as const;
const STEP_MS = 5;

/** A gateway with one group, whose producer wants `demand` messages a second. */
class Gateway {
  readonly scene: IngressScene;
  readonly shares: GroupShares;
  readonly producer: SceneProducer;
  readonly told: BrokerEvent[] = [];
  demand: number;
  isUp = true;
  /** The gateway is cut from its store without leaving the pool, as in a crash. */
  hasCrashed = false;
  #owed = 0;

  constructor(timer: VirtualTimer, store: PoolStore, demand: number, seed: number) {
    this.demand = demand;
    this.scene = new IngressScene({ groups: { g: { topics: ["public"], messages: RATE } } });
    this.scene.nowMs = timer.now();
    this.shares = new GroupShares({
      limits: this.scene.ingress.limits,
      store: {
        sync: (request) => (this.hasCrashed ? new Promise(() => {}) : store.sync(request)),
        leave: (request) => store.leave(request),
        setLimits: (pool, text) => store.setLimits(pool, text),
        close: () => store.close(),
      },
      maxMembers: MAX_MEMBERS,
      timer,
      clock: timer,
      random: new SeededRandom(seed),
      tell: (event) => this.told.push(event),
    });
    this.shares.share(GROUP, timer.now());
    this.producer = this.scene.client().open("t");
  }

  step(nowMs: number): void {
    if (!this.isUp || this.hasCrashed) return;
    this.scene.run(nowMs);
    this.#owed += (this.demand * STEP_MS) / 1_000;
    // A client with 100 messages in flight.
    for (; this.#owed >= 1; this.#owed--)
      if (this.producer.sent - this.scene.went.length < 100) this.producer.send();
  }
}

const gateways: Gateway[] = [];
const gone = () => Promise.reject(new Error("no connection"));

afterEach(() => {
  gateways.length = 0;
});

class World {
  readonly timer = new VirtualTimer();
  readonly store: PoolStore;
  #seed = 0;

  constructor(wrap: (store: PoolStore) => PoolStore = (store) => store) {
    this.store = wrap(new MemoryStore(this.timer));
  }

  start(demand: number): Gateway {
    const gateway = new Gateway(this.timer, this.store, demand, ++this.#seed);
    gateways.push(gateway);
    return gateway;
  }

  async run(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      await this.timer.advance(STEP_MS);
      for (const gateway of gateways) gateway.step(this.timer.now());
    }
  }

  /** Messages of all gateways in this time, in whole tenths of a second. */
  went(fromMs: number, toMs: number): number {
    const tenths = this.#tenths();
    let sum = 0;
    for (let at = fromMs / 100; at < toMs / 100; at++) sum += tenths[at] ?? 0;
    return sum;
  }

  /** The most in any second that begins within this time, at a tenth of a second. */
  most(fromMs: number, toMs: number): number {
    const tenths = this.#tenths();
    let most = 0;
    for (let at = fromMs / 100; at < toMs / 100; at++)
      most = Math.max(
        most,
        tenths.slice(at, at + 10).reduce((sum, count) => sum + count, 0),
      );
    return most;
  }

  #tenths(): number[] {
    const tenths: number[] = Array.from({ length: Math.ceil(this.timer.now() / 100) + 1 }, () => 0);
    for (const { scene } of gateways)
      for (const { atMs } of scene.went) {
        const at = Math.floor(atMs / 100);
        tenths[at] = (tenths[at] ?? 0) + 1;
      }
    return tenths;
  }
}

/** A second sees at most 1.05 × the shares, and one message more of each gateway. */
const MOST = RATE * 1.05 + 3;
const SAFE = RATE / MAX_MEMBERS;

describe("three gateways with one group", () => {
  test("share its rate by demand: never more in any second, and at least 95 % while it is wanted", async () => {
    const world = new World();
    const [idle, small, large] = [world.start(0), world.start(50), world.start(1_000)];
    await world.run(30_000);
    const nowMs = world.timer.now();
    expect(world.most(2_000, nowMs)).toBeLessThanOrEqual(MOST);
    expect(world.went(15_000, nowMs)).toBeGreaterThanOrEqual(0.95 * 15 * RATE);
    expect(small.scene.went.filter(({ atMs }) => atMs >= 20_000).length).toBeGreaterThanOrEqual(
      450,
    );
    expect(idle.scene.went).toEqual([]);
    // Demand moves: what was idle is used by others within seconds.
    idle.demand = 1_000;
    large.demand = 0;
    await world.run(15_000);
    expect(world.most(nowMs, world.timer.now())).toBeLessThanOrEqual(MOST);
    expect(world.went(nowMs + 5_000, nowMs + 15_000)).toBeGreaterThanOrEqual(0.95 * 10 * RATE);
  });

  test("stay within the rate and the safe shares of joiners while gateways join, leave and crash", async () => {
    const world = new World();
    const first = world.start(400);
    await world.run(10_000);
    world.start(400);
    await world.run(10_000);
    const third = world.start(400);
    await world.run(10_000);
    await Promise.all([first.shares.close(), world.run(1_000)]);
    first.isUp = false;
    await world.run(10_000);
    const crashMs = world.timer.now();
    third.hasCrashed = true;
    await world.run(20_000);
    // Until its first lease, a joiner uses its safe share.
    expect(world.most(0, world.timer.now())).toBeLessThanOrEqual(MOST + 2 * SAFE);
    // The first gateway finds an empty store: everything within 7 s.
    expect(world.went(8_000, 10_000)).toBeGreaterThanOrEqual(0.95 * 2 * RATE);
    expect(world.went(15_000, 20_000)).toBeGreaterThanOrEqual(0.95 * 5 * RATE);
    expect(world.went(25_000, 30_000)).toBeGreaterThanOrEqual(0.95 * 5 * RATE);
    expect(world.went(crashMs - 5_000, crashMs)).toBeGreaterThanOrEqual(0.95 * 5 * RATE);
    // Its lease must end before another gateway has its share.
    expect(world.went(crashMs + 8_000, crashMs + 18_000)).toBeGreaterThanOrEqual(0.95 * 10 * RATE);
    expect(first.told).toEqual([]);
  });

  test("fall to their safe shares when the store is lost for a lease, and have the rate again after", async () => {
    let isDown = false;
    const world = new World((store) => ({
      sync: (request) => (isDown ? gone() : store.sync(request)),
      leave: (request) => store.leave(request),
      setLimits: (pool, text) => store.setLimits(pool, text),
      close: () => store.close(),
    }));
    for (const demand of [200, 200, 200]) world.start(demand);
    await world.run(20_000);
    isDown = true;
    await world.run(20_000);
    const lost = world.went(30_000, 40_000) / 10;
    expect(lost).toBeLessThanOrEqual(3 * SAFE * 1.05);
    expect(lost).toBeGreaterThanOrEqual(3 * SAFE * 0.9);
    isDown = false;
    await world.run(20_000);
    expect(world.went(55_000, 60_000)).toBeGreaterThanOrEqual(0.95 * 5 * RATE);
    expect(world.most(2_000, 59_000)).toBeLessThanOrEqual(MOST);
    const of = { target: "group g", unit: "messages" };
    for (const { told } of gateways)
      expect(told).toEqual([
        { kind: "store-lost", ...of, reason: "no connection", safeShare: SAFE },
        { kind: "store-back", ...of, afterMs: expect.any(Number) as number },
      ]);
  });

  test("follow a rate that is set at one of them", async () => {
    const world = new World();
    const gateway = world.start(500);
    world.start(500);
    await world.run(12_000);
    gateway.scene.ingress.limits.set(GROUP, { messages: 100 }, world.timer.now());
    await world.run(10_000);
    expect(world.went(17_000, 22_000)).toBeLessThanOrEqual(1.05 * 500);
    expect(world.went(17_000, 22_000)).toBeGreaterThanOrEqual(0.95 * 500);
  });
});

test("a gateway that cannot reach its store uses its safe share from the start", async () => {
  const world = new World(() => ({
    sync: gone,
    leave: () => Promise.resolve(),
    setLimits: gone,
    close: () => Promise.resolve(),
  }));
  const gateway = world.start(500);
  await world.run(10_000);
  expect(gateway.scene.went.length).toBeGreaterThanOrEqual(0.9 * 10 * SAFE);
  expect(gateway.scene.went.length).toBeLessThanOrEqual(10 * SAFE + SAFE);
  expect(gateway.told.map(describeEvent)).toEqual([
    "the store that shares messages of group g is lost: no connection; this gateway uses its safe share of 38/s until it is back",
  ]);
});

test("a rate that was set while the store was lost is stored when it is back, and told once until then", async () => {
  let isDown = false;
  const world = new World((store) => ({
    sync: (request) => (isDown ? gone() : store.sync(request)),
    leave: (request) => store.leave(request),
    setLimits: (pool, text) => (isDown ? gone() : store.setLimits(pool, text)),
    close: () => store.close(),
  }));
  const [set, other] = [world.start(500), world.start(500)];
  await world.run(12_000);
  isDown = true;
  await world.run(1_000);
  set.scene.ingress.limits.set(GROUP, { messages: 200 }, world.timer.now());
  set.scene.ingress.limits.set(GROUP, { messages: 100 }, world.timer.now());
  await world.run(11_000);
  isDown = false;
  await world.run(16_000);
  expect(world.went(35_000, 40_000)).toBeLessThanOrEqual(1.05 * 500);
  expect(world.went(35_000, 40_000)).toBeGreaterThanOrEqual(0.95 * 500);
  expect(set.told.map(({ kind }) => kind).toSorted()).toEqual([
    "limit-not-stored",
    "store-back",
    "store-lost",
  ]);
  expect(other.told.map(({ kind }) => kind)).toEqual(["store-lost", "store-back"]);
});

test("a store that refuses the password is asked again until it is right", async () => {
  let isRefused = true;
  const world = new World((store) => ({
    sync: (request) =>
      isRefused
        ? Promise.reject(new StoreError("WRONGPASS", { canHeal: false }))
        : store.sync(request),
    leave: (request) => store.leave(request),
    setLimits: (pool, text) => store.setLimits(pool, text),
    close: () => store.close(),
  }));
  const gateway = world.start(500);
  await world.run(11_000);
  isRefused = false;
  await world.run(19_000);
  expect(world.went(25_000, 30_000)).toBeGreaterThanOrEqual(0.95 * 5 * RATE);
  expect(gateway.told.map(({ kind }) => kind)).toEqual(["store-lost", "store-back"]);
});

test("a gateway that the store refuses lets nothing pass, and tells that and not a safe share", async () => {
  let isRefused = false;
  const world = new World((store) => ({
    sync: (request) =>
      isRefused
        ? Promise.resolve({ kind: "refused", why: "id-taken" } as const)
        : store.sync(request),
    leave: (request) => store.leave(request),
    setLimits: (pool, text) => store.setLimits(pool, text),
    close: () => store.close(),
  }));
  const gateway = world.start(500);
  await world.run(10_000);
  isRefused = true;
  await world.run(10_000);
  expect(world.went(12_000, 20_000)).toBe(0);
  expect(gateway.told.map(describeEvent)).toEqual([
    "the store that shares messages of group g is lost: it refuses this gateway (id-taken); nothing that it limits passes this gateway until it is back",
  ]);
});

test("a group without a limit leaves its pool, and holds nothing", async () => {
  const world = new World();
  const gateway = world.start(500);
  await world.run(2_000);
  expect(gateway.shares.states().map(({ pool }) => pool)).toEqual(["gateway/groups/g/messages"]);
  gateway.scene.ingress.limits.unset(GROUP, world.timer.now());
  await world.run(100);
  expect(gateway.shares.states()).toEqual([]);
  await world.run(1_000);
  expect(world.went(2_100, 3_100)).toBeGreaterThanOrEqual(490);
});

test("callers whose clocks differ do not get the tokens of the same time twice", async () => {
  const timer = new VirtualTimer();
  const tokens = new SharedTokens(
    "p",
    1_000,
    {
      store: new MemoryStore(timer),
      maxMembers: 1,
      timer,
      clock: timer,
      random: new SeededRandom(1),
    },
    {
      user: { wake: () => {}, isWaiting: () => true },
      notice: new StoreNotice("broker", "messages", ({ kind }) => expect.fail(kind)),
    },
  );
  await timer.advance(10_000);
  let taken = 0;
  for (let step = 0; step < 1_000; step++) {
    await timer.advance(1);
    // One caller's clock is behind by a turn of the event loop.
    for (const nowMs of [timer.now(), timer.now() - 5, timer.now()])
      while (tokens.hasMoreThan(0, nowMs)) {
        tokens.charge(1);
        taken++;
      }
  }
  expect(taken).toBeLessThanOrEqual(1_050);
  await tokens.leave();
});
