import type { CommandThrottleProducer } from "../../../wire/definition/throttle.ts";
import type { ProducerThrottlingReason } from "../../error/producer-throttled-error.ts";
import type { Cluster } from "../../lookup/cluster.ts";
import { Alarm } from "../../wait/alarm.ts";
import { RestartWindow } from "./restart-window.ts";
import { ThrottleState } from "./throttle-state.ts";
import type { ThrottleChange } from "./throttle-state.ts";

/** A pause that the broker asked for. */
export interface Throttling {
  /** With the partition, if the topic has partitions. */
  readonly topic: string;
  readonly reason: ProducerThrottlingReason;
  /** Milliseconds from this reading to the end of the pause. The broker may extend or end it before. */
  readonly pauseLeftMs: number;
}

/** The part of a throttle that the send queue sees. */
export interface SendGate {
  /** Until SENDs may be written; 0 if they may be now. */
  readonly pauseLeftMs: number;
  /** All time throttled so far; see `ThrottleState`. */
  readonly throttledMs: number;
  readonly lastReason: ProducerThrottlingReason;
  /** Whether one more SEND may be written while these messages have no receipt; asked outside of pauses. */
  hasRoom(messagesInFlight: number): boolean;
  /** Messages were stored. */
  onReceipt(messages: number): void;
}

/** A `ThrottleState` in time: tells its changes as events, and calls `onResumed` when SENDs may be written again. */
export class ProducerThrottle implements SendGate {
  readonly #cluster: Cluster;
  readonly #topic: string;
  readonly #onResumed: () => void;
  readonly #state = new ThrottleState();
  readonly #window = new RestartWindow();
  readonly #alarm: Alarm;

  constructor(cluster: Cluster, topic: string, onResumed: () => void) {
    this.#cluster = cluster;
    this.#topic = topic;
    this.#onResumed = onResumed;
    this.#alarm = new Alarm(cluster.timer, (nowMs) => this.#tell(this.#state.onDue(nowMs)));
  }

  get pauseLeftMs(): number {
    return this.#state.isActive ? this.#state.pauseLeftMs(this.#cluster.timer.now()) : 0;
  }

  get throttledMs(): number {
    // The clock is read only while something runs: this is called for every message.
    return this.#state.throttledMs(this.#state.isActive ? this.#cluster.timer.now() : 0);
  }

  get lastReason(): ProducerThrottlingReason {
    return this.#state.lastReason;
  }

  /** Undefined if SENDs may be written. */
  get throttling(): Throttling | undefined {
    const { pauseLeftMs } = this;
    if (pauseLeftMs === 0) return undefined;
    return { topic: this.#topic, reason: this.#state.lastReason, pauseLeftMs };
  }

  get throttledMsByReason(): ReadonlyMap<ProducerThrottlingReason, number> {
    return this.#state.throttledMsByReason(this.#cluster.timer.now());
  }

  hasRoom(messagesInFlight: number): boolean {
    return !this.#window.isSet || this.#window.hasRoom(messagesInFlight, this.#cluster.timer.now());
  }

  onCommand(command: CommandThrottleProducer, messagesInFlight: number): void {
    const nowMs = this.#cluster.timer.now();
    const wasPaused = this.pauseLeftMs > 0;
    const changes = this.#state.onCommand(command, nowMs);
    const { pauseLeftMs } = this;
    if (pauseLeftMs > 0 && !wasPaused) this.#window.shrink(messagesInFlight);
    if (pauseLeftMs > 0 || wasPaused) this.#window.endsAt(nowMs + pauseLeftMs);
    this.#tell(changes);
  }

  onReceipt(messages: number): void {
    // Receipts during a pause are for what was sent before it, and say nothing about the time after.
    if (this.#window.isSet && this.pauseLeftMs === 0) this.#window.onStored(messages);
    if (this.#state.isActive) this.#tell(this.#state.onReceipt(this.#cluster.timer.now()));
  }

  /** The attachment is gone. The next one starts unthrottled. */
  reset(): void {
    this.#window.clear();
    if (this.#state.isActive) this.#tell(this.#state.end(this.#cluster.timer.now()));
  }

  #tell(changes: readonly ThrottleChange[]): void {
    const { dueAtMs } = this.#state;
    if (dueAtMs === undefined) this.#alarm.clear();
    else this.#alarm.set(dueAtMs);
    const atMs = this.#cluster.timer.now();
    for (const change of changes) this.#cluster.emit({ ...change, topic: this.#topic, atMs });
    if (changes.length > 0 && this.pauseLeftMs === 0) this.#onResumed();
  }
}
