import type { Timer } from "@sluice/core";
import type { MessageIdData } from "../../wire/definition/message-id.ts";
import { Alarm } from "../wait/alarm.ts";
import type { Delivery } from "./delivery.ts";
import { RedeliverySchedule } from "./redelivery-schedule.ts";

export interface RedeliveriesOptions {
  readonly nackDelayMs: number;
  /** 0: an entry may stay unacknowledged for ever. */
  readonly ackTimeoutMs: number;
  /** Asks the broker for these entries. */
  readonly redeliver: (ids: readonly MessageIdData[]) => void;
}

/** Ids in one command. */
const GROUP_MAX = 1_000;

/** How long the first of several may wait for others to be due with it. */
const GROUP_TIME_MS = 100;

/**
 * Asks for entries again: for those that the application gave back, after a while, and for those
 * that it has not acknowledged in time. Entries of a batch come again as a whole.
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

  /** The application has got a message of it. */
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

  /** All of it is acknowledged. */
  onAcked(delivery: Delivery): void {
    this.#unacked?.remove(delivery);
    this.#nacked.remove(delivery);
  }

  /** The broker delivers all again, or nothing more. */
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

  /** The two delays differ: what is put down last may be due first. */
  #arm(): void {
    const dueAtMs = Math.min(this.#nacked.dueAtMs ?? Infinity, this.#unacked?.dueAtMs ?? Infinity);
    if (dueAtMs >= (this.#alarm.dueAtMs ?? Infinity)) return;
    const ringAtMs = Math.max(dueAtMs, this.#timer.now() + GROUP_TIME_MS);
    if (ringAtMs < (this.#alarm.dueAtMs ?? Infinity)) this.#alarm.set(ringAtMs);
  }
}
