import { ConfigError } from "@sluice/core";
import type { SluiceError, Timer } from "@sluice/core";
import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import { ProtocolError } from "../../../wire/protocol-error.ts";
import type { MessageId } from "../../message/message-id.ts";
import { Alarm } from "../../wait/alarm.ts";
import type { SendGate } from "../throttle/producer-throttle.ts";
import { BatchBuilder } from "./batch-builder.ts";
import type { BatchLimits } from "./batch-builder.ts";
import { Flushes } from "./flushes.ts";
import { lateErrorOf, throttledErrorOf } from "./late-error.ts";
import type { PreparedMessage } from "./outgoing-message.ts";
import { PendingSends } from "./pending-sends.ts";
import type { PendingSend } from "./pending-sends.ts";
import { SendCall } from "./send-call.ts";
import type { SendCallTaker } from "./send-call.ts";
import type { SendBatch } from "./send-frames.ts";
import type { PartitionRoom } from "./send-room.ts";
import { SendWatch } from "./send-watch.ts";

/** Where SENDs are written while the producer is attached: a `Connection`. */
export interface Wire {
  readonly isWritable: boolean;
  readonly messageBytesMax: number;
  write(bytes: Uint8Array): void;
}

export interface SendQueueOptions {
  /** The topic or partition, for errors. */
  readonly topic: string;
  readonly room: PartitionRoom;
  /** Whether the broker limits the producer. `pump` must be called when a pause ends; receipts pump by themselves. */
  readonly gate: SendGate;
  /** Undefined: every message is sent alone. */
  readonly batching: BatchLimits | undefined;
  /** Infinity for no timeout. */
  readonly sendTimeoutMs: number;
  /** Encodes messages as SENDs. An error rejects the calls of `send` in the batch. */
  readonly encode: (batch: SendBatch) => readonly PendingSend[];
  /** The oldest message has had no receipt for `waitedMs`. Called once until the next receipt. */
  readonly onStuck: (pending: number, waitedMs: number) => void;
  /** The send timeout has passed and all pending messages have failed. */
  readonly onTimedOut: (failed: number) => void;
}

/**
 * All messages of a topic or partition from the call of `send` to the receipt: waiting for room, in
 * a batch, not yet written, and written. Keeps their order.
 */
export class SendQueue implements SendCallTaker {
  readonly #timer: Timer;
  readonly #options: SendQueueOptions;
  readonly #pending = new PendingSends();
  readonly #batch: BatchBuilder | undefined;
  readonly #batchAlarm: Alarm;
  readonly #watch: SendWatch;
  readonly #flushes = new Flushes();
  #wire: Wire | undefined;
  #nextSequenceId = 0n;
  #endedBecause: SluiceError | undefined;

  constructor(timer: Timer, options: SendQueueOptions) {
    const { batching } = options;
    this.#timer = timer;
    this.#options = options;
    this.#batch = batching === undefined ? undefined : new BatchBuilder(batching);
    this.#batchAlarm = new Alarm(timer, (nowMs) => this.#onBatchDue(nowMs));
    this.#watch = new SendWatch(timer, {
      sendTimeoutMs: options.sendTimeoutMs,
      oldest: () => this.#pending.first,
      onStuck: (waitedMs) => options.onStuck(options.room.messages, waitedMs),
      onLate: (oldest, nowMs) => this.#onLate(oldest, nowMs),
    });
  }

  /** Of the newest accepted message; before the first, one less than that message will get. */
  get lastSequenceId(): bigint {
    return this.#nextSequenceId - 1n;
  }

  set nextSequenceId(sequenceId: bigint) {
    this.#nextSequenceId = sequenceId;
  }

  /** Whether a batch is begun that the next message would join. */
  get isGathering(): boolean {
    return this.#batch?.isEmpty === false;
  }

  /** Whether the next call of `send` would have to wait for room. */
  get isFull(): boolean {
    return this.#options.room.isFull;
  }

  get isEnded(): boolean {
    return this.#endedBecause !== undefined;
  }

  /** Messages that were written and have no receipt. */
  get messagesInFlight(): number {
    return this.#pending.messagesOnWire;
  }

  /** The oldest SEND without a receipt. */
  get first(): PendingSend | undefined {
    return this.#pending.first;
  }

  send(message: PreparedMessage, signal: AbortSignal | undefined): Promise<MessageId> {
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      if (this.#endedBecause !== undefined) throw this.#endedBecause;
      const { room, gate } = this.#options;
      const throttled = throttledErrorOf(this.#options, gate);
      if (throttled !== undefined) throw throttled;
      const calledAtMs = this.#timer.now();
      const { throttledMs } = gate;
      room.enter(
        new SendCall(this, { message, calledAtMs, throttledMs, room, signal, resolve, reject }),
      );
    });
  }

  flush(): Promise<void> {
    return new Promise((resolve) => {
      // Waits behind the calls that wait for room: a flush covers them too.
      this.#options.room.enter({
        messages: 0,
        sizeBytes: 0,
        onAdmitted: () => {
          this.#closeBatch();
          const last = this.#pending.last;
          if (last === undefined) resolve();
          else this.#flushes.add(last, resolve);
        },
      });
    });
  }

  /** There is room: the message gets its sequence id, and with it its place in the order. */
  accept(call: SendCall): void {
    const nowMs = this.#timer.now();
    const refusal = this.#refusalOf(call, nowMs);
    if (refusal !== undefined) {
      this.#refuse([call], refusal);
      return;
    }
    call.sequenceId = call.message.sequenceId ?? this.#nextSequenceId;
    this.#nextSequenceId = call.sequenceId + 1n;
    this.#place(call, nowMs);
  }

  /** SENDs are written to `wire` from now on. */
  attach(wire: Wire): void {
    this.#wire = wire;
    if (this.#batch !== undefined) this.#batch.brokerBytesMax = wire.messageBytesMax;
    this.pump();
  }

  /** SENDs without a receipt are written again to the next wire. Answers the messages among them. */
  detach(): number {
    this.#wire = undefined;
    return this.#pending.rewind();
  }

  /** Writes pending SENDs for as long as the wire is writable, unless the broker asked for a pause. */
  pump(): void {
    const { gate } = this.#options;
    if (gate.pauseLeftMs > 0) return;
    for (;;) {
      const wire = this.#wire;
      if (wire?.isWritable !== true || !gate.hasRoom(this.#pending.messagesOnWire)) return;
      const send = this.#pending.takeForWire();
      if (send === undefined) return;
      wire.write(send.frame);
    }
  }

  /** Throws a `ProtocolError` if the broker left a SEND out. */
  onReceipt(sequenceId: bigint, highest: bigint | undefined, id: MessageIdData | undefined): void {
    const meaning = this.#pending.onReceipt(sequenceId, highest);
    if (meaning === "stale") return;
    if (meaning === "ahead")
      throw new ProtocolError(
        `the receipt for message ${sequenceId} of ${this.#options.topic} came out of order`,
      );
    this.#watch.onMoved();
    this.#options.gate.onReceipt(meaning.messages);
    meaning.onStored(id);
    this.#onSettled([meaning]);
    if (this.#pending.isWaiting) this.pump();
  }

  /** The broker refused the oldest SEND. Does nothing if `sequenceId` is that of another one. */
  refuseFirst(sequenceId: bigint, refusal: SluiceError): void {
    const send = this.#pending.takeRefused(sequenceId);
    if (send === undefined) return;
    send.onFailed(refusal);
    this.#onSettled([send]);
    if (this.#pending.isWaiting) this.pump();
  }

  /** All pending messages fail, and all later ones. */
  end(error: SluiceError): void {
    this.#endedBecause ??= error;
    this.#failAll(error);
    this.#batchAlarm.clear();
    this.#watch.clear();
  }

  #refusalOf(call: SendCall, nowMs: number): SluiceError | undefined {
    if (this.#endedBecause !== undefined) return this.#endedBecause;
    if (nowMs >= call.calledAtMs + this.#options.sendTimeoutMs)
      return this.#tooLate(call, nowMs, false);
    const { sequenceId } = call.message;
    if (sequenceId === undefined || sequenceId > this.lastSequenceId) return undefined;
    return new ConfigError(
      `sequenceId is ${sequenceId}; use a value above ${this.lastSequenceId}, the last one sent, or leave it out`,
    );
  }

  #place(call: SendCall, nowMs: number): void {
    const batch = this.#batch;
    if (batch === undefined || call.message.deliverAtTime !== undefined) {
      this.#closeBatch();
      this.#dispatch({ calls: [call] });
      return;
    }
    if (!batch.hasRoomFor(call.sizeBytes)) this.#closeBatch();
    batch.add(call, nowMs);
    if (batch.isFull) this.#closeBatch();
    else if (!this.#batchAlarm.isSet) this.#batchAlarm.set(batch.dueAtMs);
  }

  /** The alarm may belong to a batch that filled up early; it is then set for the current one. */
  #onBatchDue(nowMs: number): void {
    if (this.#batch === undefined || this.#batch.isEmpty) return;
    if (nowMs >= this.#batch.dueAtMs) this.#closeBatch();
    else this.#batchAlarm.set(this.#batch.dueAtMs);
  }

  #closeBatch(): void {
    if (this.#batch?.isEmpty === false) this.#dispatch(this.#batch.take());
  }

  #dispatch(batch: SendBatch): void {
    try {
      for (const send of this.#options.encode(batch)) this.#pending.push(send);
    } catch (error) {
      this.#refuse(batch.calls, error);
      return;
    }
    this.#watch.onAdded();
    this.pump();
  }

  /**
   * As with Pulsar's own clients, a message that is late fails all messages behind it too: storing
   * those would change the order.
   */
  #onLate(oldest: PendingSend, nowMs: number): void {
    const failed = this.#options.room.messages;
    this.#failAll(this.#tooLate(oldest, nowMs, true));
    this.#options.onTimedOut(failed);
  }

  #tooLate(
    late: { readonly calledAtMs: number; readonly throttledMsBefore: number },
    nowMs: number,
    mayBeStored: boolean,
  ): SluiceError {
    const { topic, room, sendTimeoutMs, gate } = this.#options;
    const waitedMs = nowMs - late.calledAtMs;
    const throttledMs = gate.throttledMs - late.throttledMsBefore;
    const { messages: pending, waiting } = room;
    return lateErrorOf(
      { topic, sendTimeoutMs, waitedMs, throttledMs, pending, waiting, mayBeStored },
      gate,
    );
  }

  /** In order. A batch that is still collecting is not sent: its messages would be stored and failed. */
  #failAll(error: SluiceError): void {
    const failed = this.#pending.takeAll();
    const gathered = this.isGathering ? (this.#batch?.take().calls ?? []) : [];
    this.#watch.onMoved();
    for (const send of failed) send.onFailed(error);
    for (const call of gathered) call.reject(error);
    this.#onSettled(failed);
    this.#leaveRoom(gathered);
  }

  #refuse(calls: readonly SendCall[], error: unknown): void {
    for (const call of calls) call.reject(error);
    this.#leaveRoom(calls);
  }

  #leaveRoom(calls: readonly SendCall[]): void {
    const bytes = calls.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#options.room.leave(calls.length, bytes);
  }

  #onSettled(sends: readonly PendingSend[]): void {
    let messages = 0;
    let bytes = 0;
    for (const send of sends) {
      messages += send.messages;
      bytes += send.sizeBytes;
      this.#flushes.onSettled(send);
    }
    this.#options.room.leave(messages, bytes);
  }
}
