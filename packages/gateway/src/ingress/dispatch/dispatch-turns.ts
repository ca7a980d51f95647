import { AlarmHeap } from "@sluice/core/internal";
import type { DispatchConsumer } from "./dispatch-consumer.ts";

/** The weight of the last probe in the part that are used. */
const LAST_PROBE_PART = 1 / 16;

/** Below this part, consumers that wait for a probe count as fewer than they are. */
const HIT_RATE_LOW = 1 / 2;

/**
 * The consumers that wait for one level, in the order of their turns: start-time fair queueing, which is
 * deficit round robin without the rounds. A consumer that was granted k permits has its next turn k later
 * than this one; a consumer that comes back has no credit for the time that it was away.
 *
 * Consumers that have not used their last permits wait for a probe. If few of the last probes were used,
 * all that wait for one have together the turns of as many as will probably use theirs: thousands of idle
 * consumers take little from a busy one.
 */
export class DispatchTurns {
  readonly #proven = new AlarmHeap<DispatchConsumer>();
  readonly #probing = new AlarmHeap<DispatchConsumer>();
  #turn = 0;
  /** The turn of the next probe while few are used. */
  #probeFinish = 0;
  #hitRate = 1;

  get size(): number {
    return this.#proven.size + this.#probing.size;
  }

  get probing(): number {
    return this.#probing.size;
  }

  /** `consumer.at` names the level of these turns. Until it leaves, `isProven` must not change. */
  join(consumer: DispatchConsumer): void {
    consumer.dueMs = Math.max(this.#turn, consumer.finish[consumer.at] ?? 0);
    this.#heapOf(consumer).add(consumer);
  }

  leave(consumer: DispatchConsumer): void {
    this.#heapOf(consumer).remove(consumer);
  }

  /** The consumer whose turn it is. */
  next(mayProbe: boolean): DispatchConsumer | undefined {
    const proven = this.#proven.first;
    const probing = mayProbe ? this.#probing.first : undefined;
    if (probing === undefined || proven === undefined) return probing ?? proven;
    const isLow = this.#hitRate < HIT_RATE_LOW;
    const probeTurn = isLow ? Math.max(probing.dueMs, this.#probeFinish) : probing.dueMs;
    return proven.dueMs < probeTurn ? proven : probing;
  }

  /** A probe was used, or was taken back. */
  onProbed(isUsed: boolean): void {
    this.#hitRate += LAST_PROBE_PART * ((isUsed ? 1 : 0) - this.#hitRate);
  }

  /** The consumer has its turn at the level of this index, and gets so many permits. */
  advance(consumer: DispatchConsumer, index: number, permits: number): void {
    this.#turn = Math.max(this.#turn, consumer.finish[index] ?? 0);
    consumer.finish[index] = this.#turn + permits;
    if (consumer.isProven) return;
    const weight = Math.max(1, this.#probing.size * this.#hitRate);
    this.#probeFinish = Math.max(this.#turn, this.#probeFinish) + permits / weight;
  }

  #heapOf({ isProven }: DispatchConsumer): AlarmHeap<DispatchConsumer> {
    return isProven ? this.#proven : this.#probing;
  }
}
