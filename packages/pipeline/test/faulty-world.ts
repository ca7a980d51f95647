/** A pipeline between a source and sinks in memory that all fail by chance, in virtual time. */
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { mapFunction, startPipeline } from "@sluice/pipeline";
import type {
  Message,
  PipelineDefinition,
  PipelineEvent,
  RunningPipeline,
  VertexLimits,
  WriteResult,
} from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";

export interface FaultPlan {
  readonly seed: number;
  readonly messages: number;
  /** How often calls fail, from 0 to 1. */
  readonly failing: number;
  /** The longest that a call takes, ms. */
  readonly slowMs: number;
  readonly concurrency: number;
  readonly readBatchSize: number;
  readonly bufferMax: number | undefined;
  readonly drainMs: number;
  readonly rateLimit: VertexLimits["rateLimit"];
}

/** Values that the map drops, multiplies, and can never map. */
const isDropped = (value: number): boolean => value % 7 === 3;
const isSplit = (value: number): boolean => value % 5 === 1;
export const isPoison = (value: number): boolean => value % 11 === 2;
const SPLIT_INTO = 3;

/** The ids of the messages that come of a value. */
export function outputsOf(value: number): readonly string[] {
  if (isPoison(value)) return [String(value)];
  if (isDropped(value)) return [];
  if (!isSplit(value)) return [String(value)];
  return Array.from({ length: SPLIT_INTO }, (_, index) => `${value}/${index}`);
}

export class FaultyWorld {
  readonly timer = new VirtualTimer();
  readonly plan: FaultPlan;
  readonly #random: SeededRandom;
  readonly source: MemorySource<number>;
  readonly sink: MemorySink<number>;
  readonly letters: MemorySink<number>;
  readonly events: PipelineEvent[] = [];
  /** Whether writes fail too. */
  sinkFails = true;
  /** Rules that were broken. */
  readonly broken: string[] = [];
  /** Ids that the sink or the dead-letter sink has. */
  readonly #has = new Set<string>();
  readonly #dropped = new Set<number>();
  /** Calls of connectors that take their time. */
  #sleeping = 0;

  constructor(plan: FaultPlan) {
    this.plan = plan;
    this.#random = new SeededRandom(plan.seed);
    const values = Array.from({ length: plan.messages }, (_, index) => index);
    this.source = new MemorySource<number>(values, {
      isEndless: true,
      onRead: () => this.#call("read"),
      onAck: async (messages) => {
        this.#checkAcknowledged(messages as readonly Message<number>[]);
        await this.#call("ack");
      },
    });
    this.sink = new MemorySink<number>({ onWrite: (messages) => this.#write(messages) });
    this.letters = new MemorySink<number>({ onWrite: (messages) => this.#write(messages) });
  }

  definition(): PipelineDefinition {
    const { concurrency, readBatchSize, bufferMax, drainMs, rateLimit } = this.plan;
    return {
      name: "p",
      source: { name: "in", source: this.source },
      maps: [{ name: "map", map: mapFunction<number, number>((message) => this.#map(message)) }],
      sink: { name: "out", sink: this.sink },
      deadLetter: this.letters,
      limits: { concurrency, readBatchSize, rateLimit },
      bufferMax,
      drainMs,
      retry: { attempts: 1000, backoffMs: 10, backoffMaxMs: 50 },
    };
  }

  start(): Promise<RunningPipeline> {
    const { timer } = this;
    const observe = (event: PipelineEvent): void => void this.events.push(event);
    return startPipeline(this.definition(), { timer, random: this.#random, observe });
  }

  /** Lets time pass until `isOver`, or until too much has passed. Answers whether it is over. */
  async passUntil(isOver: () => boolean, mostMs = 600_000): Promise<boolean> {
    for (let passedMs = 0; passedMs < mostMs && !isOver(); passedMs += 20)
      await this.timer.advance(20);
    return isOver();
  }

  /** Stops the pipeline and lets the drain pass. */
  async stop(running: RunningPipeline): Promise<void> {
    let isOver = false;
    const stopped = running.stop().finally(() => {
      isOver = true;
    });
    if (!(await this.passUntil(() => isOver))) this.broken.push("the stop takes for ever");
    await stopped;
    if (this.source.isOpen || this.sink.isOpen || this.letters.isOpen)
      this.broken.push("a connector is still open");
    // The acknowledgement of a message that is done may have failed.
    for (const { value } of this.source.abandoned)
      if (this.#missingOf(value).length > 0) this.broken.push(`${value} was not given back`);
    const left = this.timer.sleeping - this.#sleeping;
    if (left > 0) this.broken.push(`${left} sleepers of the pipeline are left`);
  }

  async #call(what: string): Promise<void> {
    const { failing, slowMs } = this.plan;
    if (this.#random.next() < 0.5) {
      this.#sleeping++;
      await this.timer.sleep(this.#random.next() * slowMs);
      this.#sleeping--;
    }
    if (this.#random.next() < failing) throw new Error(`the ${what} failed`);
  }

  async #map({ value }: Message<number>): Promise<{ value: number }[]> {
    if (isPoison(value)) throw Object.assign(new Error("poison"), { isRetriable: false });
    await this.#call("map");
    if (isDropped(value)) this.#dropped.add(value);
    return outputsOf(value).map(() => ({ value }));
  }

  async #write(messages: readonly Message<number>[]): Promise<readonly WriteResult[]> {
    if (this.sinkFails) await this.#call("write");
    return messages.map(({ id }) => {
      if (this.sinkFails && this.#random.next() < this.plan.failing) {
        const retryAfterMs = this.#random.next() < 0.5 ? undefined : 30;
        return { error: new Error("not now"), isRetriable: true, retryAfterMs };
      }
      this.#has.add(id);
      return undefined;
    });
  }

  #checkAcknowledged(messages: readonly Message<number>[]): void {
    for (const { value } of messages) {
      const missing = this.#missingOf(value);
      if (missing.length > 0)
        this.broken.push(`${value} was acknowledged before ${missing.join()}`);
    }
  }

  /** What has to happen before a message may be acknowledged. */
  #missingOf(value: number): readonly string[] {
    if (!isPoison(value) && isDropped(value)) return this.#dropped.has(value) ? [] : ["its drop"];
    return outputsOf(value).filter((id) => !this.#has.has(id));
  }
}
