/** What the service behind a limited sink sees of all replicas together, in virtual time. */
import { SeededRandom } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { MemoryStore } from "@sluice/fleet";
import { generator, startPipeline } from "@sluice/pipeline";
import type { RunningPipeline, SinkConnector } from "@sluice/pipeline";
import fc from "fast-check";
import { expect, test } from "vitest";
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

interface Scene {
  readonly max: number;
  /** Requests in flight at once, and how long each takes. */
  readonly width: number;
  readonly requestMs: number;
}

/** Replicas of a pipeline whose sink sends one request for each message. */
class Fleet {
  readonly timer = new VirtualTimer();
  readonly #scene: Scene;
  readonly #store = new MemoryStore(this.timer);
  readonly #replicas: { readonly running: RunningPipeline; readonly timer: BlockedTimer }[] = [];
  readonly #arrivals: number[] = [];
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
        sink: { name: "out", sink: this.#service(timer), limits: { rateLimit } },
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

  /** The most arrivals of any sliding second. */
  get most(): number {
    let first = 0;
    let most = 0;
    for (const [index, atMs] of this.#arrivals.entries()) {
      while ((this.#arrivals[first] as number) <= atMs - 1000) first++;
      most = Math.max(most, index - first + 1);
    }
    return most;
  }

  perSecond(fromMs: number, untilMs: number): number {
    const within = this.#arrivals.filter((atMs) => atMs >= fromMs && atMs < untilMs).length;
    return (within * 1000) / (untilMs - fromMs);
  }

  #service(timer: BlockedTimer): SinkConnector {
    const { width, requestMs } = this.#scene;
    return {
      kind: "requests",
      open: () =>
        Promise.resolve({
          tellsSent: true,
          write: async (messages, { onSent }) => {
            let next = 0;
            const send = async (): Promise<void> => {
              while (next++ < messages.length) {
                onSent?.(1);
                this.#arrivals.push(timer.now());
                await timer.sleep(requestMs);
              }
            };
            await Promise.all(Array.from({ length: width }, send));
          },
          close: () => Promise.resolve(),
        }),
    };
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
      expect(fleet.perSecond(settledMs, timer.now())).toBeGreaterThan(0.85 * scene.max);
      fleet.block(2_000);
      await timer.advance(3_500);
      await fleet.join();
      await timer.advance(2_500);
      fleet.block(300);
      await fleet.leave();
      await timer.advance(2_500);
      // Slow requests of a share that moves were sent at once, with tokens of the time before.
      const moved = (scene.max / 3) * (scene.requestMs / 1000);
      expect(fleet.most).toBeLessThanOrEqual(1.05 * scene.max + moved + 1);
      await fleet.leave();
      await fleet.leave();
      expect(timer.sleeping).toBe(0);
    }),
    { numRuns: 2 },
  );
});
