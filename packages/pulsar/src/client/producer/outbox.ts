import { ConfigError } from "@sluice/core";
import type { SluiceError, Timer } from "@sluice/core";
import type { MessageIdData } from "../../wire/definition/message-id.ts";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { Alarm } from "../wait/alarm.ts";
import { DeadlineError } from "../error/deadline-error.ts";
import type { MessageId } from "../message/message-id.ts";
import { BatchBuilder } from "./batch-builder.ts";
import type { BatchLimits } from "./batch-builder.ts";
import type { PreparedMessage } from "./outgoing-message.ts";
import type { Parcel } from "./parcel.ts";
import { PendingSends } from "./pending-sends.ts";
import type { PendingSend } from "./pending-sends.ts";
import type { SendRoom } from "./send-room.ts";
import { SendTicket } from "./send-ticket.ts";
import type { TicketTaker } from "./send-ticket.ts";

/** Where SENDs go while the producer is attached: a `Connection` is one. */
export interface Wire {
  readonly isWritable: boolean;
  readonly messageBytesMax: number;
  write(bytes: Uint8Array): void;
}

export interface OutboxOptions {
  readonly room: SendRoom;
  /** Undefined: every message goes alone. */
  readonly batching: BatchLimits | undefined;
  /** Infinity for no end. */
  readonly sendTimeoutMs: number;
  /** Makes SENDs of messages. What it throws is told to those who sent them. */
  readonly pack: (parcel: Parcel) => readonly PendingSend[];
}

/**
 * Everything that a producer has taken and the broker not yet: in line for room, gathering in a
 * batch, before the wire and on it. It keeps the order from the first to the last.
 */
export class Outbox implements TicketTaker {
  readonly #timer: Timer;
  readonly #options: OutboxOptions;
  readonly #pending = new PendingSends();
  readonly #batch: BatchBuilder | undefined;
  readonly #batchAlarm: Alarm;
  readonly #timeoutAlarm: Alarm;
  /** Who waits until everything up to a SEND is dealt with. */
  readonly #flushes: { readonly upTo: PendingSend; readonly done: () => void }[] = [];
  #wire: Wire | undefined;
  #nextSequenceId = 0n;
  #endedBecause: SluiceError | undefined;

  constructor(timer: Timer, options: OutboxOptions) {
    const { batching } = options;
    this.#timer = timer;
    this.#options = options;
    this.#batch = batching === undefined ? undefined : new BatchBuilder(batching);
    this.#batchAlarm = new Alarm(timer, (nowMs) => this.#onBatchDue(nowMs));
    this.#timeoutAlarm = new Alarm(timer, (nowMs) => this.#onTimeout(nowMs));
  }

  /** Of the newest message that has a place; one less than the first will have before that. */
  get lastSequenceId(): bigint {
    return this.#nextSequenceId - 1n;
  }

  set nextSequenceId(sequenceId: bigint) {
    this.#nextSequenceId = sequenceId;
  }

  /** Whether a batch has been begun that the next message would join. */
  get isGathering(): boolean {
    return this.#batch?.isEmpty === false;
  }

  get isEnded(): boolean {
    return this.#endedBecause !== undefined;
  }

  /** The oldest SEND without a receipt. */
  get first(): PendingSend | undefined {
    return this.#pending.first;
  }

  send(message: PreparedMessage, signal: AbortSignal | undefined): Promise<MessageId> {
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      if (this.#endedBecause !== undefined) throw this.#endedBecause;
      const { room, sendTimeoutMs } = this.#options;
      const deadlineAtMs = this.#timer.now() + sendTimeoutMs;
      const caller = { resolve, reject };
      const ticket = new SendTicket(this, { message, deadlineAtMs, caller });
      if (signal !== undefined) ticket.listenTo(signal, room);
      room.enter(ticket);
    });
  }

  flush(): Promise<void> {
    return new Promise((resolve) => {
      // In line behind all who wait, so that they are meant, too.
      this.#options.room.enter({
        messages: 0,
        sizeBytes: 0,
        onAdmitted: () => {
          this.#closeBatch();
          const last = this.#pending.last;
          if (last === undefined) resolve();
          else this.#flushes.push({ upTo: last, done: resolve });
        },
      });
    });
  }

  /** There is room: the message takes its place in the order. */
  accept(ticket: SendTicket): void {
    const nowMs = this.#timer.now();
    const refusal = this.#refusalOf(ticket, nowMs);
    if (refusal !== undefined) {
      this.#refuse([ticket], refusal);
      return;
    }
    ticket.sequenceId = ticket.message.sequenceId ?? this.#nextSequenceId;
    this.#nextSequenceId = ticket.sequenceId + 1n;
    this.#place(ticket, nowMs);
  }

  /** From now on SENDs go there. */
  attach(wire: Wire): void {
    this.#wire = wire;
    if (this.#batch !== undefined) this.#batch.brokerBytesMax = wire.messageBytesMax;
    this.pump();
  }

  /** All without a receipt go again on the next wire. Answers how many had been sent. */
  detach(): number {
    this.#wire = undefined;
    return this.#pending.rewind();
  }

  /** Puts on the wire what there is, as far as the network takes it. */
  pump(): void {
    for (;;) {
      const wire = this.#wire;
      if (wire?.isWritable !== true) return;
      const send = this.#pending.takeForWire();
      if (send === undefined) return;
      wire.write(send.frame);
    }
  }

  /** Throws if the broker has left one out. */
  onReceipt(sequenceId: bigint, highest: bigint | undefined, id: MessageIdData | undefined): void {
    const meaning = this.#pending.onReceipt(sequenceId, highest);
    if (meaning === "stale") return;
    if (meaning === "ahead")
      throw new ProtocolError(`a receipt for message ${sequenceId} came out of order`);
    meaning.onStored(id);
    this.#onSettled([meaning]);
  }

  /** The broker will not have the first of all; if it means another, nothing happens. */
  refuseFirst(sequenceId: bigint, refusal: SluiceError): void {
    const send = this.#pending.takeRefused(sequenceId);
    if (send === undefined) return;
    send.onFailed(refusal);
    this.#onSettled([send]);
  }

  /** Everything fails, now and from now on. */
  end(error: SluiceError): void {
    this.#endedBecause ??= error;
    this.#failAll(error);
    this.#batchAlarm.clear();
    this.#timeoutAlarm.clear();
  }

  #refusalOf({ deadlineAtMs, message }: SendTicket, nowMs: number): SluiceError | undefined {
    if (this.#endedBecause !== undefined) return this.#endedBecause;
    if (nowMs >= deadlineAtMs) return this.#tooLate();
    const { sequenceId } = message;
    if (sequenceId === undefined || sequenceId > this.lastSequenceId) return undefined;
    return new ConfigError(
      `a message's sequenceId is ${sequenceId}; it must be greater than ${this.lastSequenceId}`,
    );
  }

  #place(ticket: SendTicket, nowMs: number): void {
    const batch = this.#batch;
    if (batch === undefined || ticket.message.deliverAtTime !== undefined) {
      this.#closeBatch();
      this.#dispatch({ tickets: [ticket] });
      return;
    }
    if (!batch.hasRoomFor(ticket.sizeBytes)) this.#closeBatch();
    batch.add(ticket, nowMs);
    if (batch.isFull) this.#closeBatch();
    else if (!this.#batchAlarm.isSet) this.#batchAlarm.set(batch.dueAtMs);
  }

  /** The alarm may have been set for a batch that filled up before: it goes on with the next. */
  #onBatchDue(nowMs: number): void {
    if (this.#batch === undefined || this.#batch.isEmpty) return;
    if (nowMs >= this.#batch.dueAtMs) this.#closeBatch();
    else this.#batchAlarm.set(this.#batch.dueAtMs);
  }

  #closeBatch(): void {
    if (this.#batch?.isEmpty === false) this.#dispatch(this.#batch.take());
  }

  #dispatch(parcel: Parcel): void {
    try {
      for (const send of this.#options.pack(parcel)) this.#pending.push(send);
    } catch (error) {
      this.#refuse(parcel.tickets, error);
      return;
    }
    this.#armTimeout();
    this.pump();
  }

  /** As with Pulsar's own clients the first that is late takes all after it along: order is kept. */
  #onTimeout(nowMs: number): void {
    const first = this.#pending.first;
    if (first === undefined) return;
    if (nowMs >= first.deadlineAtMs) this.#failAll(this.#tooLate());
    else this.#armTimeout();
  }

  /** Left set when all is stored: looking for nothing once is cheaper than an alarm per message. */
  #armTimeout(): void {
    const deadlineAtMs = this.#pending.first?.deadlineAtMs ?? Infinity;
    if (deadlineAtMs < Infinity && !this.#timeoutAlarm.isSet) this.#timeoutAlarm.set(deadlineAtMs);
  }

  #tooLate(): DeadlineError {
    return new DeadlineError(`the message was not stored within ${this.#options.sendTimeoutMs} ms`);
  }

  /** In order. What is still being gathered is not sent: it would be stored, and called failed. */
  #failAll(error: SluiceError): void {
    const failed = this.#pending.takeAll();
    const gathered = this.isGathering ? (this.#batch?.take().tickets ?? []) : [];
    for (const send of failed) send.onFailed(error);
    for (const ticket of gathered) ticket.reject(error);
    this.#onSettled(failed);
    this.#leaveRoom(gathered);
  }

  #refuse(tickets: readonly SendTicket[], error: unknown): void {
    for (const ticket of tickets) ticket.reject(error);
    this.#leaveRoom(tickets);
  }

  #leaveRoom(tickets: readonly SendTicket[]): void {
    const bytes = tickets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#options.room.leave(tickets.length, bytes);
  }

  #onSettled(sends: readonly PendingSend[]): void {
    let messages = 0;
    let bytes = 0;
    for (const send of sends) {
      messages += send.messages;
      bytes += send.sizeBytes;
      while (this.#flushes[0]?.upTo === send) this.#flushes.shift()?.done();
    }
    this.#options.room.leave(messages, bytes);
  }
}
