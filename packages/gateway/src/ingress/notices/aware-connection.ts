import type { Reason } from "@sluice/core";
import type { ThrottlingReason } from "@sluice/pulsar/wire";
import type { LimitLevel } from "../limits/limit-level.ts";
import { AwareFlow } from "./aware-flow.ts";
import type { DeskFlow } from "./aware-flow.ts";
import type { NoticeNumbers } from "./notice-numbers.ts";

/** What THROTTLE_PRODUCER says. */
export interface ThrottleNotice {
  /** Unique within the connection. */
  readonly requestId: bigint;
  readonly producerId: bigint;
  readonly reason: ThrottlingReason;
  /** Milliseconds from its arrival. 0 with the reason of a rate: go on; else for information. */
  readonly pauseMs: number;
}

/** Receipts of notices that were never sent; one more ends the connection. */
const FORGED_MAX = 100;

/** Notices whose receipts are waited for; the oldest is forgotten for a new one. */
const OUTSTANDING_MAX = 1_000;

/** Producers of a connection that are told of its pause; a client needs one to know. */
const TOLD_OF_PAUSE_MAX = 100;

/** Between two notices to one producer that its connection is not read. A client remembers the reason for a second. */
const INFORM_MIN_MS = 1_000;

/** A producer is active if it has sent within this time. */
export const ACTIVE_MS = 1_000;

/** What all aware connections count together. */
export interface NoticeCounts {
  sent: number;
  receipts: number;
  /** No receipt in time. */
  unheeded: number;
  /** SENDs after the receipt and before the end of the pause. */
  violations: number;
  forgedReceipts: number;
}

interface SentNotice {
  readonly flow: AwareFlow;
  readonly sentAtMs: number;
}

/** A connection whose client knows the throttle commands. */
export class AwareConnection {
  readonly numbers: NoticeNumbers;
  readonly #counts: NoticeCounts;
  readonly #notify: (notice: ThrottleNotice) => void;
  readonly #flows = new Set<AwareFlow>();
  /** Notices without a receipt, oldest first: those that are not late yet, and those that are. */
  readonly #outstanding = new Map<bigint, SentNotice>();
  readonly #overdue = new Map<bigint, SentNotice>();
  #lastRequestId = 0n;
  #unheeded = 0;
  #forged = 0;

  constructor(
    numbers: NoticeNumbers,
    counts: NoticeCounts,
    notify: (notice: ThrottleNotice) => void,
  ) {
    this.numbers = numbers;
    this.#counts = counts;
    this.#notify = notify;
  }

  /** Counts the notices whose receipts are late by now. */
  expire(nowMs: number): void {
    if (this.#outstanding.size === 0) return;
    for (const [requestId, notice] of this.#outstanding) {
      if (nowMs <= notice.sentAtMs + this.numbers.receiptWaitMs) return;
      this.#outstanding.delete(requestId);
      setBounded(this.#overdue, requestId, notice);
      this.#unheeded++;
      this.#counts.unheeded++;
      notice.flow.onOverdue(requestId);
    }
  }

  /** Whether notices are of any use here. */
  get isHeeding(): boolean {
    // Notices that may still be answered count once one of them was not: no more than that go unheeded.
    const { unheededMax } = this.numbers;
    return this.#unheeded === 0 || this.#unheeded + this.#outstanding.size < unheededMax;
  }

  open(producerId: bigint, desk: DeskFlow): AwareFlow {
    const flow = new AwareFlow(this, producerId, desk);
    this.#flows.add(flow);
    return flow;
  }

  close(flow: AwareFlow): void {
    this.#flows.delete(flow);
  }

  /** Tells a producer until when to pause; an end that has passed means: go on. */
  tell(flow: AwareFlow, level: LimitLevel, untilMs: number, nowMs: number): void {
    const pauseMs = Math.max(0, Math.ceil(untilMs - nowMs));
    const requestId = this.#send(flow, level.reason, pauseMs, nowMs);
    flow.told(requestId, level, untilMs, nowMs);
  }

  /** The connection is not read: the client learns why, once a second at most for each producer that sends. */
  onPaused(reason: Reason, nowMs: number): void {
    // The reason of a rate with pause 0 would mean: go on. What was exceeded is the memory of a hold.
    const told = reason === "connection-pending" ? reason : "memory";
    if (!this.isHeeding) return;
    let count = 0;
    for (const flow of this.#flows) {
      const { sentAtMs, informedAtMs } = flow;
      if (nowMs - sentAtMs > ACTIVE_MS || sentAtMs <= informedAtMs) continue;
      if (nowMs - informedAtMs < INFORM_MIN_MS) continue;
      if (++count > TOLD_OF_PAUSE_MAX) return;
      flow.informedAtMs = nowMs;
      this.#send(flow, told, 0, nowMs);
    }
  }

  /** "forged" if more of them have come than is forgiven. */
  receipt(requestId: bigint, nowMs: number): "taken" | "ignored" | "forged" {
    this.expire(nowMs);
    const notice = this.#outstanding.get(requestId) ?? this.#overdue.get(requestId);
    if (notice !== undefined) {
      this.#outstanding.delete(requestId);
      this.#overdue.delete(requestId);
      this.#counts.receipts++;
      this.#unheeded = 0;
      if (notice.flow.requestId === requestId) notice.flow.onReceipt(nowMs);
      return "taken";
    }
    if (requestId >= 1n && requestId <= this.#lastRequestId) return "ignored";
    this.#counts.forgedReceipts++;
    return ++this.#forged > FORGED_MAX ? "forged" : "ignored";
  }

  #send(flow: AwareFlow, reason: ThrottlingReason, pauseMs: number, nowMs: number): bigint {
    const requestId = ++this.#lastRequestId;
    setBounded(this.#outstanding, requestId, { flow, sentAtMs: nowMs });
    this.#counts.sent++;
    this.#notify({ requestId, producerId: flow.producerId, reason, pauseMs });
    return requestId;
  }
}

function setBounded(notices: Map<bigint, SentNotice>, id: bigint, notice: SentNotice): void {
  if (notices.size >= OUTSTANDING_MAX) {
    const [oldest] = notices.keys();
    if (oldest !== undefined) notices.delete(oldest);
  }
  notices.set(id, notice);
}
