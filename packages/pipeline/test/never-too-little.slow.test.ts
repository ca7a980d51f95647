/** A pipeline with a limit and a healthy sink comes back to its limit after every disturbance: in virtual time. */
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { MemoryStore } from "@sluice/fleet";
import { mapFunction, startPipeline } from "@sluice/pipeline";
import type { Message, RunningPipeline, SinkConnector, SourceConnector } from "@sluice/pipeline";
import fc from "fast-check";
import { expect, test } from "vitest";

const VERTICES = ["in", "map", "out"] as const;

type Disturbance =
  | { readonly what: "sink hangs" | "sink fails" | "source fails"; readonly forMs: number }
  | { readonly what: "map drops"; readonly forMs: number; readonly ratio: number }
  | { readonly what: "new limit"; readonly max: number }
  | { readonly what: "replica joins" | "replica leaves" };

interface Plan {
  readonly seed: number;
  readonly vertex: (typeof VERTICES)[number];
  readonly max: number;
  readonly replicas: number;
  readonly concurrency: number;
  readonly readBatchSize: number;
  readonly disturbances: readonly Disturbance[];
}

const rates = fc.constantFrom(40, 200, 1000);
const forMs = fc.integer({ min: 100, max: 3000 });
const plans = fc.record<Plan>({
  seed: fc.integer(),
  vertex: fc.constantFrom(...VERTICES),
  max: rates,
  replicas: fc.integer({ min: 1, max: 3 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  readBatchSize: fc.constantFrom(20, 500),
  disturbances: fc.array(
    fc.oneof(
      fc.record({
        what: fc.constantFrom(
          "sink hangs" as const,
          "sink fails" as const,
          "source fails" as const,
        ),
        forMs,
      }),
      fc.record({
        what: fc.constant("map drops" as const),
        forMs,
        ratio: fc.constantFrom(0.3, 0.9, 1),
      }),
      fc.record({ what: fc.constant("new limit" as const), max: rates }),
      fc.record({ what: fc.constantFrom("replica joins" as const, "replica leaves" as const) }),
    ),
    { minLength: 1, maxLength: 4 },
  ),
});

/** Replicas may be unequal for a few syncs of the store, and a source that failed for 3 s is read again up to 3.2 s later. */
const SETTLE_MS = 8000;
const WINDOW_MS = 5000;
/** Part of the limit that must be reached in every window after a disturbance has ended. */
const ENOUGH = 0.95;
/** Part of the limit that no window may exceed. */
const TOO_MUCH = 1.05;

/** Replicas of one pipeline with a shared limit, an endless source and a sink that is healthy unless it is disturbed. */
class Churn {
  readonly timer = new VirtualTimer();
  readonly #plan: Plan;
  readonly #store = new MemoryStore(this.timer);
  readonly #random: SeededRandom;
  #running: RunningPipeline[] = [];
  #started = 0;
  #max: number;
  #written = 0;
  #hangsUntilMs = 0;
  #failsUntilMs = 0;
  #unreadableUntilMs = 0;
  #dropRatio = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#max = plan.max;
    this.#random = new SeededRandom(plan.seed);
  }

  async join(): Promise<void> {
    const { vertex, concurrency, readBatchSize, seed } = this.#plan;
    const rateLimit = { max: this.#plan.max, min: this.#plan.max };
    const of = (name: string) => (name === vertex ? { limits: { rateLimit } } : {});
    const starting = startPipeline(
      {
        name: "p",
        source: { name: "in", source: this.#source(), ...of("in") },
        maps: [
          {
            name: "map",
            map: mapFunction(({ value }) =>
              this.#random.next() < this.#dropRatio ? undefined : { value },
            ),
            ...of("map"),
          },
        ],
        sink: { name: "out", sink: this.#sink(), ...of("out") },
        limits: { concurrency, readBatchSize },
        retry: { backoffMaxMs: 500 },
      },
      {
        timer: this.timer,
        random: new SeededRandom(seed + ++this.#started),
        fleet: { store: this.#store, maxMembers: 8 },
      },
    );
    await this.timer.advance(0);
    this.#running.push(await starting);
  }

  async leave(running: RunningPipeline): Promise<void> {
    const stopped = running.stop();
    this.#running = this.#running.filter((each) => each !== running);
    await this.timer.advance(12_000);
    await stopped;
  }

  async end(): Promise<void> {
    for (const running of this.#running) await this.leave(running);
  }

  /** Resolves at the end of the disturbance. */
  async disturb(disturbance: Disturbance): Promise<void> {
    const nowMs = this.timer.now();
    switch (disturbance.what) {
      case "sink hangs":
        this.#hangsUntilMs = nowMs + disturbance.forMs;
        break;
      case "sink fails":
        this.#failsUntilMs = nowMs + disturbance.forMs;
        break;
      case "source fails":
        this.#unreadableUntilMs = nowMs + disturbance.forMs;
        break;
      case "map drops":
        this.#dropRatio = disturbance.ratio;
        break;
      case "new limit":
        await this.#setLimit(disturbance.max);
        return;
      case "replica joins":
        if (this.#running.length < 4) await this.join();
        return;
      case "replica leaves": {
        const [first, second] = this.#running;
        if (first !== undefined && second !== undefined) await this.leave(first);
        return;
      }
    }
    await this.timer.advance(disturbance.forMs);
    this.#dropRatio = 0;
  }

  /** Part of the limit that the sink gets in one window. */
  async reached(): Promise<number> {
    const before = this.#written;
    await this.timer.advance(WINDOW_MS);
    return (this.#written - before) / ((this.#max * WINDOW_MS) / 1000);
  }

  async #setLimit(max: number): Promise<void> {
    const { vertex, concurrency, readBatchSize } = this.#plan;
    const rateLimit = { max, min: max };
    this.#max = max;
    for (const running of this.#running.slice(0, 1)) {
      const set = running.setLimits(vertex, { rateLimit, concurrency, readBatchSize });
      await this.timer.advance(0);
      await set;
    }
  }

  #source(): SourceConnector<number> {
    let index = 0;
    const next = (): Message<number> => ({ id: String(++index), value: index, headers: {} });
    return {
      kind: "endless",
      open: () =>
        Promise.resolve({
          read: async (countMax) => {
            await Promise.resolve();
            if (this.timer.now() < this.#unreadableUntilMs) throw new Error("the server is away");
            return Array.from({ length: countMax }, next);
          },
          ack: () => Promise.resolve(),
          close: () => Promise.resolve(),
        }),
    };
  }

  #sink(): SinkConnector {
    return {
      kind: "counting",
      open: () =>
        Promise.resolve({
          write: async (messages, { signal }) => {
            const { timer } = this;
            if (timer.now() < this.#failsUntilMs) throw new Error("the service is away");
            const leftMs = this.#hangsUntilMs - timer.now();
            if (leftMs > 0) await timer.sleep(leftMs, signal);
            this.#written += messages.length;
          },
          close: () => Promise.resolve(),
        }),
    };
  }
}

test("after every pause, retry, drop, failed read, rebalance and new limit the limit is reached again", async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const churn = new Churn(plan);
      for (let replica = 0; replica < plan.replicas; replica++) await churn.join();
      await churn.timer.advance(SETTLE_MS);
      expect(await churn.reached()).toBeGreaterThanOrEqual(ENOUGH);
      for (const disturbance of plan.disturbances) {
        await churn.disturb(disturbance);
        await churn.timer.advance(SETTLE_MS);
        const reached = await churn.reached();
        expect(reached).toBeGreaterThanOrEqual(ENOUGH);
        expect(reached).toBeLessThanOrEqual(TOO_MUCH);
      }
      await churn.end();
      expect(churn.timer.sleeping).toBe(0);
    }),
    { numRuns: 12 },
  );
});
