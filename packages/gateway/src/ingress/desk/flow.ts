import { InvariantError } from "@sluice/core";
import type { Cost } from "@sluice/core";
import { Fifo, RateMeter } from "@sluice/core/internal";
import type { Alarm } from "@sluice/core/internal";
import type { LevelReason, LimitLevel } from "../limits/limit-level.ts";
import { NO_LEVELS } from "../limits/topic-limits.ts";
import type { TopicLimits } from "../limits/topic-limits.ts";
import type { HeldAccount } from "./held-account.ts";
import type { LimitedEntry } from "./limited-times.ts";

/** A producer as logs, metrics and `/api/why` name it. */
export interface FlowFacts {
  /** The full name, with "-partition-N" if it is a partition. */
  readonly topic: string;
  /** The producer's name. */
  readonly producer: string;
  /** The client, as "host:port". */
  readonly address: string;
  /** As the client calls itself, such as "Pulsar Go 0.14.0"; undefined if it does not. */
  readonly client?: string | undefined;
}

/**
 * What a flow may hold ÷ what it held when its oldest item became too old. A full window varies by what is on
 * its way: with 1, the held client of scenarios/flow-live-change.yaml was not read for 3.5 of 30 s.
 */
const AGE_SLACK = 17 / 16;

/** An item that waits. */
export interface Held<Item> {
  readonly item: Item;
  readonly cost: Cost;
  /** Memory that it takes. */
  readonly bytes: number;
  readonly heldAtMs: number;
}

interface AgeMark {
  readonly frames: number;
  readonly messages: number;
  readonly bytes: number;
}

/** A flow that nothing of was held for this long waits anew. */
const CALM_MS = 1_000;

/** Learns which flow had a turn, and how long its item had waited. */
export interface FlowWatch<Item> {
  onReleased(flow: Flow<Item>, waitedMs: number): void;
}

/**
 * One producer of one connection: its items keep their order. Only the desk changes it.
 *
 * In the heap of its ring a flow stands by `dueMs`, which there counts turns and not milliseconds.
 */
export class Flow<Item> implements Alarm {
  readonly facts: FlowFacts;
  readonly limits: TopicLimits;
  readonly account: HeldAccount;
  /** Publishes an item that has had its turn. */
  readonly publish: (item: Item, nowMs: number) => void;
  /** Whether the client knows the throttle commands (PIP-385) and gets notices. */
  isAware = false;
  isClosed = false;
  dueMs = 0;
  place: number | undefined;
  /** While it waits: its levels, and the one in whose ring it stands. */
  levels: readonly LimitLevel[] = NO_LEVELS;
  at = -1;
  held: Fifo<Held<Item>> | undefined;
  heldMessages = 0;
  /** By the items' costs. */
  heldCostBytes = 0;
  /** By the memory that they take. */
  heldBytes = 0;
  /** Since when it has to wait again and again, with breaks of a second at most. */
  waitsSinceMs = 0;
  #heldAtMs = -Infinity;
  released = 0;
  /** What the producer has sent since it opened; what of it has gone is this without what is held. */
  offeredMessages = 0;
  offeredBytes = 0;
  /** Told of each release while a page looks at the topic; undefined otherwise. */
  watch: FlowWatch<Item> | undefined;
  /** Messages offered per second; measured once the flow has had to wait. */
  asked: RateMeter | undefined;
  /** What the flow held when its oldest item became too old; it may not hold more. */
  ageMark: AgeMark | undefined;

  /** Why the connection is not read because of that. */
  pausedFor: LevelReason | undefined;
  limited: LimitedEntry | undefined;

  constructor(
    facts: FlowFacts,
    limits: TopicLimits,
    account: HeldAccount,
    publish: (item: Item, nowMs: number) => void,
  ) {
    this.publish = publish;
    this.facts = facts;
    this.limits = limits;
    this.account = account;
  }

  get heldFrames(): number {
    return this.held?.length ?? 0;
  }

  /** The level in whose ring it waits. */
  get level(): LimitLevel | undefined {
    return this.levels[this.at];
  }

  /** What the first item costs. */
  get firstCost(): Cost {
    const first = this.held?.peek();
    if (first === undefined) throw new InvariantError("a flow that waits has an item");
    return first.cost;
  }

  push(item: Held<Item>): void {
    this.held ??= new Fifo();
    const isCalm = item.heldAtMs - this.#heldAtMs > CALM_MS;
    if (this.held.length === 0 && isCalm) this.waitsSinceMs = item.heldAtMs;
    this.#heldAtMs = item.heldAtMs;
    this.held.push(item);
    this.heldMessages += item.cost.messages;
    this.heldCostBytes += item.cost.bytes;
    this.heldBytes += item.bytes;
  }

  shift(): Held<Item> | undefined {
    const head = this.held?.shift();
    if (head === undefined) return undefined;
    this.heldMessages -= head.cost.messages;
    this.heldCostBytes -= head.cost.bytes;
    this.heldBytes -= head.bytes;
    return head;
  }

  recordAsked(messages: number, nowMs: number): void {
    this.asked ??= new RateMeter({ clock: { now: () => nowMs } });
    this.asked.record(messages, nowMs);
  }

  /**
   * Looks whether the oldest item is too old. Called before and after each change, so that the mark is
   * what the flow held when it became so. It moves on while the connection's victims are spared: a mark that
   * stayed would, once they are silent, stop reading until all growth has gone.
   */
  lookAtAge(maxHoldMs: number, nowMs: number): void {
    const head = this.held?.peek();
    if (head === undefined || nowMs - head.heldAtMs <= maxHoldMs) this.ageMark = undefined;
    else if (this.ageMark === undefined || this.account.holdMs(nowMs) >= nowMs - head.heldAtMs)
      this.ageMark = this.#held();
  }

  #held(): AgeMark {
    return { frames: this.heldFrames, messages: this.heldMessages, bytes: this.heldBytes };
  }

  /**
   * Whether it holds more than it may because of the age of its oldest item. Clients bound what they send
   * without a receipt by messages or by bytes: more of one alone can be the same window in other frames.
   */
  get isBeyondAge(): boolean {
    const { ageMark } = this;
    if (ageMark === undefined) return false;
    return (
      this.heldFrames > ageMark.frames * AGE_SLACK &&
      this.heldMessages > ageMark.messages * AGE_SLACK &&
      this.heldBytes > ageMark.bytes * AGE_SLACK
    );
  }
}
