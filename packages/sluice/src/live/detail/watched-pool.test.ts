import { systemRandom } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { joinFleet, MemoryStore } from "@sluice/fleet";
import type { FleetLimiter, PoolStore } from "@sluice/fleet";
import { expect, test } from "vitest";
import { tellingWhere } from "../../cli/flow/telling-where.ts";
import type { LivePoolDetail } from "../live-message.ts";
import { poolSettings } from "./pool-settings.ts";
import { WatchedPool } from "./watched-pool.ts";

const POOL = "shop/orders/in";
const rateLimit = { max: 100, min: 100 };

/** A pool of this process's member and others, whose process looks twice a second. */
class WatchedWorld {
  readonly timer = new VirtualTimer();
  readonly store: PoolStore;
  asked = 0;
  readonly #watched: WatchedPool;
  #own: FleetLimiter | undefined;

  constructor() {
    const memory = new MemoryStore(this.timer);
    this.store = {
      sync: (request) => memory.sync(request),
      leave: (request) => memory.leave(request),
      setLimits: (pool, text) => memory.setLimits(pool, text),
      roster: (pool) => {
        this.asked++;
        return memory.roster(pool);
      },
      close: () => memory.close(),
    };
    this.#watched = new WatchedPool(POOL, { store: this.store, address: "memory" }, this.timer);
  }

  get past(): WatchedPool["past"] {
    return this.#watched.past;
  }

  async join(member: string): Promise<FleetLimiter> {
    const store = tellingWhere(this.store, `${member}.example:1`);
    const runtime = { timer: this.timer, random: systemRandom };
    const limiter = await joinFleet({
      pool: POOL,
      member,
      store,
      maxMembers: 4,
      rateLimit,
      runtime,
    });
    this.#own ??= limiter;
    return limiter;
  }

  /** Asks for the detail twice a second for `seconds`, and answers the last one. */
  async pass(seconds: number, isLooked = false): Promise<LivePoolDetail | undefined> {
    let detail: LivePoolDetail | undefined;
    for (let sample = 0; sample < 2 * seconds; sample++) {
      const fleet = this.#own?.state();
      if (this.#watched.look(fleet, isLooked) || isLooked)
        detail = this.#watched.read(
          {
            pool: POOL,
            of: "orders/in",
            fleet,
            share: { pool: POOL, ceiling: 100, max: 100, members: fleet?.membership?.size ?? 1 },
            settings: poolSettings(
              { pool: POOL, store: this.store, maxMembers: 4, rateLimit },
              100,
            ),
          },
          this.timer.now(),
        );
      await this.timer.advance(500);
    }
    return detail;
  }
}

test("a page that comes late finds who held a share, who joined and who left", async () => {
  const world = new WatchedWorld();
  await world.join("a");
  const b = await world.join("b");
  await world.pass(20);
  await b.leave();
  await world.pass(10);
  await world.join("c");
  await world.pass(20);
  const seen = world.past.map(({ members }) =>
    members.map(({ id, state }) => `${id} ${state}`).join(),
  );
  expect(seen).toContain("a holds,b holds");
  expect(seen.some((look) => look.includes("b left"))).toBe(true);
  expect(seen.at(-1)).toBe("a holds,c holds");
});

test("a member that has left stays in the table with the time since it was seen, for fifteen minutes", async () => {
  const world = new WatchedWorld();
  await world.join("a");
  const b = await world.join("b");
  await world.pass(20);
  await b.leave();
  const detail = await world.pass(60, true);
  const gone = detail?.members.find(({ id }) => id === "b");
  expect(gone).toMatchObject({ state: "left", share: 0, where: "b.example:1" });
  expect(gone?.goneForMs).toBeGreaterThan(50_000);
  expect(gone?.goneForMs).toBeLessThan(62_000);
  await world.pass(15 * 60);
  const later = await world.pass(2, true);
  expect(later?.members.map(({ id }) => id)).toEqual(["a"]);
});

test("other members are told with their use, what they want, where they run and since when", async () => {
  const world = new WatchedWorld();
  await world.join("a");
  const b = await world.join("b");
  await world.pass(20);
  for (let second = 0; second < 5; second++) {
    for (let call = 0; call < 25; call++) b.tryAcquire();
    await world.pass(1);
  }
  const detail = await world.pass(2, true);
  const other = detail?.members.find(({ id }) => id === "b");
  expect(other).toMatchObject({ where: "b.example:1", state: "holds" });
  expect(other?.used).toBeDefined();
  expect(other?.wanted).toBeGreaterThan(0);
  expect(other?.upForMs).toBeGreaterThan(20_000);
});

test("without a page the store is asked every five seconds, and with one every second", async () => {
  const world = new WatchedWorld();
  await world.join("a");
  await world.pass(30);
  world.asked = 0;
  await world.pass(60);
  expect(world.asked).toBe(12);
  world.asked = 0;
  await world.pass(60, true);
  expect(world.asked).toBe(60);
});
