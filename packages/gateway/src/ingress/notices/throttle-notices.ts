import type { FlowFacts } from "../desk/flow.ts";
import type { LimitLevel } from "../limits/limit-level.ts";
import type { PublishLimits } from "../limits/publish-limits.ts";
import type { RateLimit } from "../limits/rate-limit.ts";
import { NO_LEVELS } from "../limits/topic-limits.ts";
import { ACTIVE_MS, AwareConnection } from "./aware-connection.ts";
import type { NoticeCounts, ThrottleNotice } from "./aware-connection.ts";
import { EXTENSION_MIN_MS } from "./aware-flow.ts";
import type { AwareFlow } from "./aware-flow.ts";
import type { NoticeNumbers } from "./notice-numbers.ts";

/** A producer that was told to pause, and until when. */
export interface ToldProducer {
  readonly facts: FlowFacts;
  readonly level: LimitLevel;
  readonly toldAtMs: number;
  readonly untilMs: number;
  readonly receiptAfterMs: number | undefined;
}

/** Producers of one answer of `toldAt`. */
const TOLD_MAX = 1_000;

/** The producers of one level, and when they were last told. */
interface Audience {
  readonly flows: Set<AwareFlow>;
  toldAtMs: number;
}

/**
 * Tells the clients that know PIP-385 when to pause, why and for how long. Notices go to all producers
 * that are active at a level as soon as little is left of it, so that complying clients are hardly ever
 * held. Notices are advice: the desk holds what comes in spite of them, and no receipt raises a limit.
 */
export class ThrottleNotices {
  readonly counts: NoticeCounts = {
    sent: 0,
    receipts: 0,
    unheeded: 0,
    violations: 0,
    forgedReceipts: 0,
  };
  readonly #numbers: NoticeNumbers;
  readonly #audiences = new Map<LimitLevel, Audience>();
  /** Producers that were told to pause; looked through when limits change. */
  readonly #told = new Set<AwareFlow>();

  constructor(limits: PublishLimits, numbers: NoticeNumbers) {
    this.#numbers = numbers;
    limits.onChange((nowMs) => this.#onLimits(nowMs));
  }

  connect(notify: (notice: ThrottleNotice) => void): AwareConnection {
    return new AwareConnection(this.#numbers, this.counts, notify);
  }

  /** A SEND of an aware producer has come. To be called before it is offered. */
  onSend(flow: AwareFlow, nowMs: number): void {
    if (flow.onSend(nowMs)) this.counts.violations++;
    const levels = flow.limits.levelsAt(nowMs);
    if (levels === flow.levels) return;
    this.#unregister(flow);
    flow.levels = levels;
    for (const level of levels) {
      const audience = this.#audiences.get(level);
      if (audience === undefined)
        this.#audiences.set(level, { flows: new Set([flow]), toldAtMs: -Infinity });
      else audience.flows.add(flow);
    }
  }

  /** These levels were charged. */
  onCharged(levels: readonly LimitLevel[], nowMs: number): void {
    if (this.#audiences.size === 0) return;
    const { earlyPart } = this.#numbers;
    for (const level of levels) {
      // Producers that were told to pause may have to pause no longer.
      const isPausing = level.toldUntilMs > nowMs;
      if (!isPausing && !level.mayLack(earlyPart)) continue;
      const audience = this.#audiences.get(level);
      if (audience === undefined || nowMs - audience.toldAtMs < EXTENSION_MIN_MS) continue;
      if (isPausing || level.msUntilLeft(earlyPart, nowMs) > 0)
        this.#tellAll(level, audience, nowMs);
    }
  }

  /** The producers whose pause has not ended. */
  toldAt(nowMs: number): readonly ToldProducer[] {
    const told: ToldProducer[] = [];
    for (const flow of this.#told) {
      const { desk, toldLevel, untilMs, toldAtMs, receiptAfterMs } = flow;
      if (toldLevel === undefined || flow.stateAt(nowMs) === "free") continue;
      if (told.length >= TOLD_MAX) break;
      told.push({ facts: desk.facts, level: toldLevel, toldAtMs, untilMs, receiptAfterMs });
    }
    return told;
  }

  close(flow: AwareFlow): void {
    this.#unregister(flow);
    this.#told.delete(flow);
    flow.connection.close(flow);
  }

  #tellAll(level: LimitLevel, audience: Audience, nowMs: number): void {
    audience.toldAtMs = nowMs;
    if (level.mayLack(this.#numbers.resumePart)) level.onShort(nowMs);
    for (const flow of audience.flows) {
      const isPausing = flow.toldLevel === level && flow.untilMs > nowMs;
      if (nowMs - flow.sentAtMs > ACTIVE_MS && !isPausing) {
        // It registers again with its next SEND.
        this.#unregister(flow);
        continue;
      }
      const untilMs = this.#endOfPause(flow, level, nowMs);
      if (!flow.mayTell(untilMs, nowMs)) continue;
      // Another level may need the rest of the pause.
      if (untilMs < flow.untilMs && flow.toldLevel !== level) continue;
      this.#told.add(flow);
      level.toldUntilMs = Math.max(level.toldUntilMs, untilMs);
      flow.connection.tell(flow, level, untilMs, nowMs);
    }
  }

  /** Producers that pause for a limit that was raised or removed learn it at once. */
  #onLimits(nowMs: number): void {
    for (const flow of this.#told) {
      const { toldLevel: level, toldLimit } = flow;
      if (level === undefined || flow.stateAt(nowMs) === "free") this.#told.delete(flow);
      else if (level.limit !== toldLimit && isRaised(toldLimit, level.limit)) {
        const isFree = level.waiting === 0 && level.hasRoom(nowMs);
        const untilMs = isFree ? nowMs : this.#endOfPause(flow, level, nowMs);
        if (untilMs > flow.untilMs - EXTENSION_MIN_MS && !isFree) continue;
        flow.connection.tell(flow, level, untilMs, nowMs);
        if (isFree) this.#told.delete(flow);
      }
    }
  }

  /**
   * When the producer is to go on. While frames wait at the level, its next SEND is to come when what it holds
   * itself has gone but for one frame: without one in the ring it would lose turns, and waiting for what all
   * others hold would give its turns to them. The SEND comes a round trip after the end of the pause.
   */
  #endOfPause({ desk, roundTripMs }: AwareFlow, level: LimitLevel, nowMs: number): number {
    const { resumePart, pauseMaxMs } = this.#numbers;
    const after = (pauseMs: number): number => nowMs + Math.min(pauseMs, pauseMaxMs);
    if (level.waiting === 0) return after(level.msUntilLeft(resumePart, nowMs));
    const { heldFrames, heldMessages, heldCostBytes } = desk;
    if (desk.level !== level || heldFrames < 2) return nowMs;
    const part = 1 - 1 / heldFrames;
    const turnMs = level.msUntilTurn(heldMessages * part, heldCostBytes * part, nowMs);
    return after(Math.max(0, turnMs - roundTripMs));
  }

  #unregister(flow: AwareFlow): void {
    for (const level of flow.levels) {
      const audience = this.#audiences.get(level);
      audience?.flows.delete(flow);
      if (audience?.flows.size === 0) this.#audiences.delete(level);
    }
    flow.levels = NO_LEVELS;
  }
}

function isRaised(before: RateLimit, now: RateLimit): boolean {
  const { messages = Infinity, bytes = Infinity } = now;
  return messages >= (before.messages ?? Infinity) && bytes >= (before.bytes ?? Infinity);
}
