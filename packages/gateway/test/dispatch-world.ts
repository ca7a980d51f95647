import { DispatchDesk } from "../src/ingress/dispatch/dispatch-desk.ts";
import { DispatchLimits } from "../src/ingress/dispatch/dispatch-limits.ts";
import type { DispatchLimitSettings } from "../src/ingress/dispatch/dispatch-limits.ts";
import type { DispatchConsumer } from "../src/ingress/dispatch/dispatch-consumer.ts";

export interface Entry {
  readonly messages: number;
  readonly bytes: number;
}

/** A client that allows `queue` messages and as many again each time half of them have come. */
export class SimulatedConsumer {
  readonly consumer: DispatchConsumer;
  readonly backlog: () => Entry | undefined;
  readonly queue: number;
  /** Permits at the broker; below zero after a batch. */
  permits = 0;
  taken = 0;
  got = 0;
  isOpen = true;

  constructor(desk: DispatchDesk, options: ConsumerOptions) {
    const { topic, subscription = "s", backlog, queue = 1_000, canWithdraw = true } = options;
    this.backlog = backlog;
    this.queue = queue;
    const withdraw = (most: number): number => {
      const taken = Math.min(most, Math.max(0, this.permits));
      this.permits -= taken;
      return taken;
    };
    this.consumer = desk.open({
      topic,
      subscription,
      pass: (permits) => {
        this.permits += permits;
      },
      withdraw: canWithdraw ? withdraw : undefined,
    });
  }
}

export interface ConsumerOptions {
  readonly topic: string;
  readonly subscription?: string;
  /** The next entry for it; undefined while there is none. */
  readonly backlog: () => Entry | undefined;
  readonly queue?: number;
  readonly canWithdraw?: boolean;
}

/** Releases at one instant; a desk that wants more would keep a process busy for ever. */
const LOOKS_MAX = 1_000;

/** A broker with a desk before it, in virtual time. */
export class DispatchWorld {
  nowMs = 0;
  readonly limits: DispatchLimits;
  readonly desk: DispatchDesk;
  readonly consumers: SimulatedConsumer[] = [];
  /** Messages and bytes by instant. */
  readonly delivered: {
    readonly atMs: number;
    readonly messages: number;
    readonly bytes: number;
  }[] = [];
  releases = 0;
  #looks = 0;
  /** Entries that one consumer can be sent at one instant: nothing else bounds it without a limit. */
  turnsMax = 10_000;

  constructor(settings: DispatchLimitSettings) {
    this.limits = new DispatchLimits(settings, 0);
    this.desk = new DispatchDesk({ limits: this.limits, onWakeAt: () => {} });
  }

  join(options: ConsumerOptions): SimulatedConsumer {
    const one = new SimulatedConsumer(this.desk, options);
    this.consumers.push(one);
    this.flow(one, one.queue);
    return one;
  }

  leave(one: SimulatedConsumer): void {
    one.isOpen = false;
    this.desk.onClosed(one.consumer, this.nowMs);
  }

  flow(one: SimulatedConsumer, permits: number): void {
    // Permits may be taken back meanwhile.
    const granted = this.desk.onFlow(one.consumer, permits, this.nowMs);
    one.permits += granted;
  }

  /** Runs so long; backlogs are looked at each millisecond. */
  run(ms: number): void {
    const endMs = this.nowMs + ms;
    this.#deliver();
    while (this.nowMs < endMs) {
      const nextMs = Math.min(this.nowMs + 1, Math.max(this.nowMs, this.desk.wakeAtMs));
      this.#looks = nextMs > this.nowMs ? 0 : this.#looks + 1;
      if (this.#looks > LOOKS_MAX) throw new Error(`the desk spins at ${this.nowMs} ms`);
      this.nowMs = Math.min(endMs, nextMs);
      this.#release();
      this.#deliver();
    }
  }

  #release(): void {
    for (let isMore = this.desk.wakeAtMs <= this.nowMs; isMore;) {
      const released = this.desk.release(this.nowMs, 1_000);
      this.releases++;
      if (++this.#looks > LOOKS_MAX) throw new Error(`the desk spins at ${this.nowMs} ms`);
      for (const { consumer, permits } of released.grants) consumer.pass(permits);
      ({ isMore } = released);
    }
  }

  /** In turns of one entry, as a broker's subscriptions do; at most so many turns at one instant. */
  #deliver(): void {
    let turns = 0;
    for (let hasDelivered = true; hasDelivered && turns < this.turnsMax; turns++) {
      hasDelivered = false;
      for (const one of this.consumers) {
        if (!one.isOpen || one.permits <= 0) continue;
        const entry = one.backlog();
        if (entry === undefined) continue;
        hasDelivered = true;
        const { messages, bytes } = entry;
        one.permits -= messages;
        one.got += messages;
        one.taken += messages;
        this.delivered.push({ atMs: this.nowMs, messages, bytes });
        const delivered = { messages, bytes, largest: messages };
        const granted = this.desk.onDelivered(one.consumer, delivered, this.nowMs);
        one.permits += granted;
        if (one.taken < one.queue / 2) continue;
        this.flow(one, one.taken);
        one.taken = 0;
      }
    }
  }

  /** The most by which any time W saw more than rate × W. */
  burst(ratePerMs: number, of: "messages" | "bytes" = "messages"): number {
    let level = 0;
    let most = 0;
    let lastMs = 0;
    for (const delivery of this.delivered) {
      level = Math.max(0, level - (delivery.atMs - lastMs) * ratePerMs) + delivery[of];
      lastMs = delivery.atMs;
      most = Math.max(most, level);
    }
    return most;
  }
}

/** An endless backlog. */
export function always(entry: Partial<Entry> = {}): () => Entry {
  const { messages = 1, bytes = 100 * messages } = entry;
  return () => ({ messages, bytes });
}
