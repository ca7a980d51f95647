import type { Timer } from "@sluice/core";
import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import { Alarm } from "../../wait/alarm.ts";
import type { Delivery } from "../receive/delivery.ts";
import { RedeliverySchedule } from "./redelivery-schedule.ts";

export interface RedeliveriesOptions {
  readonly nackDelayMs: number;
  /** 0: unacknowledged messages are never redelivered. */
  readonly ackTimeoutMs: number;
  /** Sends REDELIVER_UNACKNOWLEDGED_MESSAGES for these entries. */
  readonly redeliver: (ids: readonly MessageIdData[]) => void;
}

/** Ids in one command. */
const GROUP_MAX = 1_000;

/** Longest wait of a due entry for others to be due, in ms. Raised, fewer commands are sent. */
const GROUP_TIME_MS = 100;

/**
 * Asks for redelivery of entries: after `nack`, with a delay, and of entries that were not
 * acknowledged in time. A batch is redelivered as a whole.
 */
export class Redeliveries {
  readonly #timer: Timer;
  readonly #options: RedeliveriesOptions;
  readonly #alarm: Alarm;
  readonly #nacked: RedeliverySchedule;
  readonly #unacked: RedeliverySchedule | undefined;

  constructor(timer: Timer, options: RedeliveriesOptions) {
    const { nackDelayMs, ackTimeoutMs } = options;
    this.#timer = timer;
    this.#options = options;
    this.#nacked = new RedeliverySchedule({ delayMs: nackDelayMs });
    if (ackTimeoutMs > 0) this.#unacked = new RedeliverySchedule({ delayMs: ackTimeoutMs });
    this.#alarm = new Alarm(timer, (nowMs) => this.#onDue(nowMs));
  }

  /** The application received a message of the entry. */
  onTaken(delivery: Delivery): void {
    if (this.#unacked === undefined) return;
    this.#unacked.add(delivery, this.#timer.now());
    this.#arm();
  }

  onNacked(delivery: Delivery): void {
    this.#unacked?.remove(delivery);
    this.#nacked.add(delivery, this.#timer.now());
    this.#arm();
  }

  /** All messages of the entry are acknowledged. */
  onAcked(delivery: Delivery): void {
    this.#unacked?.remove(delivery);
    this.#nacked.remove(delivery);
  }

  /** The broker redelivers everything, or nothing any more. */
  clear(): void {
    this.#nacked.clear();
    this.#unacked?.clear();
    this.#alarm.clear();
  }

  #onDue(nowMs: number): void {
    for (const schedule of [this.#nacked, this.#unacked]) {
      if (schedule === undefined) continue;
      for (;;) {
        const ids = schedule.takeDue(nowMs, GROUP_MAX);
        if (ids.length === 0) break;
        this.#options.redeliver(ids);
      }
    }
    this.#arm();
  }

  /** The two delays differ: an entry that was added last may be due first. */
  #arm(): void {
    const dueAtMs = Math.min(this.#nacked.dueAtMs ?? Infinity, this.#unacked?.dueAtMs ?? Infinity);
    if (dueAtMs >= (this.#alarm.dueAtMs ?? Infinity)) return;
    const ringAtMs = Math.max(dueAtMs, this.#timer.now() + GROUP_TIME_MS);
    if (ringAtMs < (this.#alarm.dueAtMs ?? Infinity)) this.#alarm.set(ringAtMs);
  }
}
