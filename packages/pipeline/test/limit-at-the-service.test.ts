/** What the service behind a limited sink sees of all replicas together, in virtual time. */
import { SeededRandom } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { MemoryStore } from "@sluice/fleet";
import { generator, startPipeline } from "@sluice/pipeline";
import type { RunningPipeline } from "@sluice/pipeline";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Arrivals } from "./arrivals.ts";
import type { Service } from "./arrivals.ts";
import { passing } from "./pipeline-world.ts";

/** The timer of a process whose event loop can be blocked: what is due meanwhile runs when the block ends. */
class BlockedTimer implements Timer {
  readonly #timer: VirtualTimer;
  #untilMs = 0;

  constructor(timer: VirtualTimer) {
    this.#timer = timer;
  }

  block(ms: number): void {
    this.#untilMs = this.#timer.now() + ms;
  }

  now(): number {
    return this.#timer.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#timer.sleep(ms, signal);
    await this.awake();
  }

  async awake(): Promise<void> {
    while (this.now() < this.#untilMs) await this.#timer.sleep(this.#untilMs - this.now());
  }
}

interface Scene extends Service {
  readonly max: number;
}

/** Replicas of a pipeline whose sink sends one request for each message. */
class Fleet {
  readonly timer = new VirtualTimer();
  readonly #scene: Scene;
  readonly #store = new MemoryStore(this.timer);
  readonly #replicas: { readonly running: RunningPipeline; readonly timer: BlockedTimer }[] = [];
  readonly arrivals: Arrivals = new Arrivals();
  #started = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async join(): Promise<void> {
    const timer = new BlockedTimer(this.timer);
    const rateLimit = { max: this.#scene.max, min: this.#scene.max };
    const starting = startPipeline(
      {
        name: "p",
        source: { name: "in", source: generator({ values: (index) => index }) },
        maps: [],
        sink: {
          name: "out",
          sink: this.arrivals.sink(timer, this.#scene, { tellsSent: true }),
          limits: { rateLimit },
        },
      },
      {
        timer,
        random: new SeededRandom(++this.#started),
        fleet: { store: this.#store, maxMembers: 8 },
      },
    );
    this.#replicas.push({ running: await passing(this.timer, starting), timer });
  }

  async leave(): Promise<void> {
    const replica = this.#replicas.shift();
    if (replica !== undefined) await passing(this.timer, replica.running.stop(), 50);
  }

  block(ms: number): void {
    for (const { timer } of this.#replicas) timer.block(ms);
  }
}

/** Fast requests, requests that wait for each other in the sink, and slow ones. */
const services = [
  { width: 20, requestMs: 2 },
  { width: 20, requestMs: 60 },
  { width: 500, requestMs: 450 },
];
const title =
  "a service that takes $width requests of $requestMs ms at once gets 0.85 of its limit from replicas that stay, and while they come, go and are blocked no second above 1.05 times the limit plus what a share that moves has in flight";

test.each(services)(title, async (service) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 100, max: 300 }), async (max) => {
      const scene = { max, ...service };
      const fleet = new Fleet(scene);
      const { timer } = fleet;
      await fleet.join();
      await fleet.join();
      await timer.advance(7_000);
      const settledMs = timer.now();
      await timer.advance(2_000);
      expect(fleet.arrivals.perSecond(settledMs, timer.now())).toBeGreaterThan(0.85 * scene.max);
      fleet.block(2_000);
      await timer.advance(3_500);
      await fleet.join();
      await timer.advance(2_500);
      fleet.block(300);
      await fleet.leave();
      await timer.advance(2_500);
      // Slow requests of a share that moves were sent at once, with tokens of the time before.
      const moved = (scene.max / 3) * (scene.requestMs / 1000);
      expect(fleet.arrivals.most).toBeLessThanOrEqual(1.05 * scene.max + moved + 1);
      await fleet.leave();
      await fleet.leave();
      expect(timer.sleeping).toBe(0);
    }),
    { numRuns: 2 },
  );
});

test("a fast service that has hung gets no burst each second from then on, so a share that moves exceeds nothing", async () => {
  const max = 400;
  const fleet = new Fleet({ max, width: 20, requestMs: 2 });
  const { timer } = fleet;
  for (let replica = 0; replica < 4; replica++) await fleet.join();
  await timer.advance(8_000);
  for (let round = 0; round < 3; round++) {
    fleet.arrivals.hangUntil(timer.now() + 900);
    await timer.advance(2_000 + 250 * round);
    await fleet.leave();
    await timer.advance(3_000);
    await fleet.join();
    await timer.advance(8_000);
  }
  expect(fleet.arrivals.most).toBeLessThanOrEqual(1.05 * max);
  for (let replica = 0; replica < 4; replica++) await fleet.leave();
});
