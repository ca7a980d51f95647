import type { Reason } from "@sluice/core";
import { formatWallTime } from "@sluice/core/system";
import type { LimitTarget } from "../../ingress/limits/rate-limit.ts";
import type { LimitBook } from "../../limit-book/limit-book.ts";
import type { LimitSource } from "../../limit-book/limit-source.ts";
import { evenTurn, heaviest } from "../../observe/waiting.ts";
import type {
  Filled,
  PausedConnection,
  RateParts,
  WaitingProducer,
  WaitingSnapshot,
  WaitingTopic,
} from "../../observe/waiting.ts";
import {
  AGE_SETTING,
  HELD_SETTING,
  limitSetting,
  MEMORY_SETTING,
  PENDING_SETTING,
  settingText,
} from "./setting.ts";
import type { PlaceOf, Setting } from "./setting.ts";

/**
 * Why something waits, in parts: `sluice why` and the dashboard make sentences of them. A part that is not
 * known is absent.
 */
export interface Why {
  readonly reason: Reason;
  /** The full name. */
  readonly topic: string;
  /** "topic", "group analytics" or "broker". */
  readonly limiter: string;
  readonly limit: RateParts;
  /** Messages per second that all producers of the limiter ask for; at least that, as those that wait send less. */
  readonly asked?: number;
  /** Messages per second that each of them gets. */
  readonly turn?: number;
  readonly producers: readonly WaitingProducer[];
  /** Producers that wait and are not listed. */
  readonly others: number;
  /** Producers of the topic that do not wait, and their messages per second. */
  readonly notWaiting?: readonly FlowingProducer[];
  /** Wall time. */
  readonly since: string;
  readonly forMs: number;
  /** When what waits now will have gone. */
  readonly untilInMs?: number;
  /** The producer that asks most, and its part of all that is asked. */
  readonly becauseOf?: {
    readonly producer: string;
    readonly asked: number;
    readonly part?: number;
  };
  readonly setting: WhySetting & { readonly target: LimitTarget };
}

/** Where a limit or a bound is set. */
export interface WhySetting {
  /** Its key in a flow file. */
  readonly path: string;
  readonly source?: LimitSource;
  /** The line of the flow file that has it, as "flow.yaml:12". */
  readonly place?: string;
  /** When it was set while the gateway ran. */
  readonly setAt?: string;
}

export interface FlowingProducer {
  readonly name: string;
  readonly asked?: number;
}

/** A connection that is not read. */
export interface WhyPaused {
  readonly reason: Reason;
  readonly address: string;
  readonly becauseOfTopic?: string;
  /** Wall time. */
  readonly since: string;
  readonly forMs: number;
  /** Of `connection-pending`: its publishes that are not stored yet. */
  readonly pending?: Filled;
  /** Of the reason of a rate: bytes of its SENDs that wait for it. */
  readonly held?: Filled;
  /** Of `memory`: bytes of the SENDs of all connections that wait. */
  readonly memory?: Filled;
  readonly setting: WhySetting;
}

export interface WhyAnswer {
  readonly at: string;
  readonly waiting: readonly Why[];
  readonly paused: readonly WhyPaused[];
}

export interface WhyInput {
  readonly snapshot: WaitingSnapshot;
  readonly limits: LimitBook;
  readonly placeOf: PlaceOf;
  readonly nowMs: number;
  readonly wallMs: number;
  /** Producers of a topic with their rates, if they are known. */
  readonly flowing: ReadonlyMap<string, readonly FlowingProducer[]>;
}

/** Connections of one answer. */
const PAUSED_MAX = 100;

export function whyAnswer(input: WhyInput): WhyAnswer {
  const { snapshot, wallMs } = input;
  return {
    at: formatWallTime(wallMs),
    waiting: snapshot.topics
      .map((one) => whyOf(one, input))
      // What holds back most messages per second first.
      .toSorted((a, b) => excessOf(b) - excessOf(a)),
    paused: snapshot.connections.slice(0, PAUSED_MAX).map((one) => pausedOf(one, input)),
  };
}

function whyOf(waiting: WaitingTopic, input: WhyInput): Why {
  const { snapshot, nowMs, wallMs, flowing } = input;
  const { reason, topic, limiter, limit, producers, others, sinceMs, untilMs } = waiting;
  const isOfTopic = reason === "topic-rate";
  const notWaiting = isOfTopic ? quietOf(flowing.get(topic), producers, others) : undefined;
  const rates = new Map(flowing.get(topic)?.map((one) => [one.name, one.asked]));
  // A producer that was told, and not held, asks for at least what it publishes.
  const together = (isOfTopic ? producers : allOf(snapshot, limiter)).map((one) => {
    const asked = one.asked ?? (isOfTopic ? rates.get(one.name) : undefined);
    return asked === undefined ? one : { ...one, asked };
  });
  const asks = [...together, ...(notWaiting ?? [])].map((one) => one.asked);
  const known = asks.flatMap((one) => one ?? []);
  // Without those that are not known it is still the least that is asked.
  const asked = known.length > 0 ? sum(known) : undefined;
  const turn =
    limit.messages !== undefined && known.length === asks.length && others === 0
      ? evenTurn(limit.messages, known)
      : undefined;
  const top = heaviest(together);
  return {
    reason,
    topic,
    limiter,
    limit,
    ...(asked !== undefined && { asked: round(asked) }),
    ...(turn !== undefined && { turn: round(turn) }),
    producers,
    others,
    ...(notWaiting !== undefined && { notWaiting }),
    since: formatWallTime(wallMs - (nowMs - sinceMs)),
    forMs: Math.max(0, Math.round(nowMs - sinceMs)),
    ...(untilMs !== undefined &&
      Number.isFinite(untilMs) && { untilInMs: Math.max(1, Math.ceil(untilMs - nowMs)) }),
    ...(top?.asked !== undefined && {
      becauseOf: {
        producer: top.name,
        asked: round(top.asked),
        ...(asked !== undefined && asked > 0 && { part: top.asked / asked }),
      },
    }),
    setting: settingFor(waiting, input),
  };
}

function settingFor(
  { topic, limiter, reason }: WaitingTopic,
  { limits, placeOf }: WhyInput,
): Why["setting"] {
  const target = targetFor(topic, limiter, reason, limits);
  const { source, setAtMs } = limits.get(target) ?? {};
  const setting = limitSetting(target);
  const place = source === "flow file" ? placeOf(setting) : undefined;
  return {
    target,
    path: settingText(setting),
    ...(source !== undefined && { source }),
    ...(place !== undefined && { place }),
    ...(setAtMs !== undefined && { setAt: formatWallTime(setAtMs) }),
  };
}

function targetFor(topic: string, limiter: string, reason: Reason, limits: LimitBook): LimitTarget {
  if (reason === "broker-rate") return { level: "broker" };
  if (reason === "group-rate") return { level: "group", name: limiter.replace(/^group /, "") };
  return limits.ofTopic(topic)?.target ?? { level: "topic", name: topic };
}

/** Producers that publish without waiting. */
function quietOf(
  flowing: readonly FlowingProducer[] | undefined,
  waiting: readonly WaitingProducer[],
  others: number,
): readonly FlowingProducer[] | undefined {
  // Producers that wait and are not listed could not be told apart from these.
  if (flowing === undefined || others > 0) return undefined;
  const names = new Set(waiting.map(({ name }) => name));
  return flowing.filter(({ name }) => !names.has(name));
}

function allOf({ topics }: WaitingSnapshot, limiter: string): readonly WaitingProducer[] {
  return topics.filter((one) => one.limiter === limiter).flatMap(({ producers }) => producers);
}

function pausedOf(
  paused: PausedConnection,
  { snapshot, placeOf, nowMs, wallMs }: WhyInput,
): WhyPaused {
  const { address, reason, topic, sinceMs, pending, held } = paused;
  const setting = boundSetting(paused);
  const place = placeOf(setting);
  return {
    reason,
    address,
    ...(topic !== undefined && { becauseOfTopic: topic }),
    since: formatWallTime(wallMs - (nowMs - sinceMs)),
    forMs: Math.max(0, Math.round(nowMs - sinceMs)),
    ...(pending !== undefined && { pending }),
    ...(reason === "memory"
      ? snapshot.memory !== undefined && { memory: snapshot.memory }
      : held !== undefined && { held }),
    setting: { path: settingText(setting), ...(place !== undefined && { place }) },
  };
}

/** The bound that stops reading. Frames that wait for a rate are too many, or else too old. */
function boundSetting({ reason, held }: PausedConnection): Setting {
  if (reason === "connection-pending") return PENDING_SETTING;
  if (reason === "memory") return MEMORY_SETTING;
  return held !== undefined && held.used > held.resume ? HELD_SETTING : AGE_SETTING;
}

function excessOf({ asked = 0, limit }: Why): number {
  return asked - (limit.messages ?? 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** One decimal says enough. */
function round(perSecond: number): number {
  return perSecond < 10 ? Math.round(perSecond * 10) / 10 : Math.round(perSecond);
}
