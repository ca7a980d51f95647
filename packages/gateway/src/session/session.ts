import type { Reason } from "@sluice/core";
import type {
  CommandBodies,
  CommandKind,
  CommandOf,
  Frame,
  MessageIdData,
  UnknownCommand,
} from "@sluice/pulsar/wire";
import { handle, isGreeting, isPaced } from "./client-command.ts";
import type { SessionParts } from "./client-command.ts";
import { CommandPace } from "./command-pace.ts";
import type { MessageToDeliver, SessionConsumer } from "./consumer.ts";
import { Consumers } from "./consumers.ts";
import { Outbox } from "./effect.ts";
import type { Answer, Effect, Question } from "./effect.ts";
import { Handshake } from "./handshake.ts";
import type { Proof, SessionFacts } from "./handshake.ts";
import { KeepAlive } from "./keep-alive.ts";
import { OutboundWatch } from "./outbound-watch.ts";
import type { OpenedProducer, PendingSend, SessionProducer } from "./producer.ts";
import { Producers } from "./producers.ts";
import { ReadGate } from "./read-gate.ts";
import type { Obstacle } from "./read-gate.ts";
import type { Refusal } from "./refusal.ts";
import { refuse } from "./reply.ts";
import { Requests } from "./requests.ts";
import { requestIdOf } from "./unknown-request.ts";

/**
 * The protocol as one connection sees it. It takes frames, results and the time, and says what is to
 * be done; it does nothing itself. Whoever drives it must
 * - ask `isReading` before each frame that it hands over, and hand over none while it is false;
 * - call `tick` a few times per second;
 * - call `end` once the connection is gone.
 */
export class Session {
  readonly #outbox = new Outbox();
  readonly #gate: ReadGate;
  readonly #handshake: Handshake;
  readonly #keepAlive: KeepAlive;
  readonly #outbound: OutboundWatch;
  readonly #pace: CommandPace;
  readonly #producers: Producers;
  readonly #consumers: Consumers;
  readonly #requests: Requests;
  readonly #parts: SessionParts;

  constructor(facts: SessionFacts, nowMs: number) {
    const { limits } = facts;
    const outbox = this.#outbox;
    this.#gate = new ReadGate(outbox);
    this.#handshake = new Handshake({ outbox, gate: this.#gate }, facts, nowMs);
    this.#keepAlive = new KeepAlive(limits, nowMs);
    this.#outbound = new OutboundWatch(limits);
    this.#pace = new CommandPace(limits.commandsPerSecond, nowMs);
    this.#producers = new Producers(outbox, this.#gate, limits);
    this.#consumers = new Consumers(outbox, limits);
    this.#requests = new Requests({ outbox, consumers: this.#consumers }, facts);
    this.#parts = {
      outbox,
      handshake: this.#handshake,
      producers: this.#producers,
      consumers: this.#consumers,
      requests: this.#requests,
    };
  }

  /** Whether the next frame may be handed over. */
  get isReading(): boolean {
    return this.#gate.isOpen && !this.#outbox.isClosed;
  }

  /** What keeps frames from being read. */
  get heldBy(): readonly (Reason | Obstacle)[] {
    return this.#gate.causes();
  }

  get role(): string | undefined {
    return this.#handshake.role;
  }

  get producers(): number {
    return this.#producers.size;
  }

  get consumers(): number {
    return this.#consumers.size;
  }

  get pendingSends(): number {
    return this.#producers.pendingSends;
  }

  receive(frame: Frame, nowMs: number): readonly Effect[] {
    const { command } = frame;
    this.#keepAlive.onFrame(nowMs);
    if (command.kind === "send" && this.#handshake.isOpen) {
      this.#producers.send(command.body, frame.entry);
      return this.#outbox.take();
    }
    if (command.kind === "unknown") this.#refuseUnknown(command);
    else this.#take(command, nowMs);
    return this.#outbox.take();
  }

  /** All whole frames were handed over; whether the start of another is there. */
  drained(isWithinFrame: boolean, nowMs: number): void {
    this.#keepAlive.onDrained(isWithinFrame, nowMs);
  }

  tick(nowMs: number): readonly Effect[] {
    if (this.#pace.isOver(nowMs)) this.#gate.unblock("commands");
    this.#handshake.tick(nowMs);
    const sign = this.#keepAlive.due(nowMs, this.#gate.isOpen);
    if (typeof sign === "object") this.#close(sign.closeBecause);
    else if (sign === "ping" && this.#handshake.isOpen)
      this.#outbox.send({ kind: "ping", body: {} });
    if (this.#outbound.isOverdue(nowMs)) this.#close("the client has not read for too long");
    return this.#outbox.take();
  }

  /** Answers of so many bytes were written; so many bytes are unread in all. */
  written(answerBytes: number, unreadBytes: number, nowMs: number): readonly Effect[] {
    const change = this.#outbound.onWritten(answerBytes, unreadBytes, nowMs);
    if (change === "tooMuch") this.#close("the client does not read what it asks for");
    if (change === "full") this.#outbox.add({ kind: "pauseDelivery" });
    if (change === "unheard") this.#gate.block("outbound");
    return this.#outbox.take();
  }

  /** The client has read; so many bytes are left. */
  unread(bytes: number): readonly Effect[] {
    if (this.#outbound.onRead(bytes) === "free") {
      this.#gate.unblock("outbound");
      this.#outbox.add({ kind: "resumeDelivery" });
    }
    return this.#outbox.take();
  }

  /** Stops reading for a reason from outside, such as the memory of all connections. */
  throttle(reason: Reason): readonly Effect[] {
    this.#gate.throttle(reason);
    return this.#outbox.take();
  }

  release(reason: Reason): readonly Effect[] {
    this.#gate.release(reason);
    return this.#outbox.take();
  }

  /** For good. What was read is still answered. */
  stopReading(): readonly Effect[] {
    this.#gate.block("closing");
    return this.#outbox.take();
  }

  authenticated(proof: Proof, nowMs: number): readonly Effect[] {
    this.#handshake.authenticated(proof, nowMs);
    return this.#outbox.take();
  }

  authenticationFailed(message: string): readonly Effect[] {
    this.#handshake.authenticationFailed(message);
    return this.#outbox.take();
  }

  producerOpened(producer: SessionProducer, opened: OpenedProducer): readonly Effect[] {
    this.#producers.opened(producer, opened);
    return this.#outbox.take();
  }

  producerReady(producer: SessionProducer, topicEpoch: bigint): readonly Effect[] {
    this.#producers.ready(producer, topicEpoch);
    return this.#outbox.take();
  }

  producerFailed(producer: SessionProducer, refusal: Refusal): readonly Effect[] {
    this.#producers.failed(producer, refusal);
    return this.#outbox.take();
  }

  /** The broker has closed a producer. */
  producerEnded(producer: SessionProducer): readonly Effect[] {
    this.#producers.ended(producer);
    return this.#outbox.take();
  }

  published(send: PendingSend, messageId: MessageIdData): readonly Effect[] {
    this.#producers.published(send, messageId);
    return this.#outbox.take();
  }

  publishFailed(send: PendingSend, refusal: Refusal): readonly Effect[] {
    this.#producers.publishFailed(send, refusal);
    return this.#outbox.take();
  }

  subscribed(consumer: SessionConsumer): readonly Effect[] {
    this.#consumers.subscribed(consumer);
    return this.#outbox.take();
  }

  subscribeFailed(consumer: SessionConsumer, refusal: Refusal): readonly Effect[] {
    this.#consumers.failed(consumer, refusal);
    return this.#outbox.take();
  }

  delivered(consumer: SessionConsumer, message: MessageToDeliver): readonly Effect[] {
    this.#consumers.deliver(consumer, message);
    return this.#outbox.take();
  }

  activeChanged(consumer: SessionConsumer, isActive: boolean): readonly Effect[] {
    this.#consumers.activeChanged(consumer, isActive);
    return this.#outbox.take();
  }

  /** The broker has closed a consumer. */
  consumerEnded(consumer: SessionConsumer): readonly Effect[] {
    this.#consumers.ended(consumer);
    return this.#outbox.take();
  }

  acknowledged(request: CommandBodies["ack"], refusal?: Refusal): readonly Effect[] {
    this.#consumers.answerAck(request, refusal);
    return this.#outbox.take();
  }

  answered(question: Question, answer: Answer): readonly Effect[] {
    if (question.about === "unsubscribe") this.#consumers.unsubscribed(question.consumer);
    this.#requests.answer(question, answer);
    return this.#outbox.take();
  }

  refused(question: Question, refusal: Refusal): readonly Effect[] {
    this.#requests.refuse(question, refusal);
    return this.#outbox.take();
  }

  /** The connection is gone, or is to go: nothing is sent any more, and all that is open closes. */
  end(): readonly Effect[] {
    this.#outbox.seal();
    this.#producers.endAll();
    this.#consumers.endAll();
    return this.#outbox.take();
  }

  #take(command: CommandOf<CommandKind>, nowMs: number): void {
    const { kind } = command;
    if (isPaced(kind) && !this.#pace.count(nowMs)) this.#gate.block("commands");
    if (!this.#handshake.isOpen && !isGreeting(kind)) this.#close(`${kind} before CONNECT`);
    else if (!handle(this.#parts, command)) this.#close(`no client sends ${kind}`);
  }

  #refuseUnknown(command: UnknownCommand): void {
    const requestId = this.#handshake.isOpen ? requestIdOf(command) : undefined;
    if (requestId === undefined) {
      this.#close(`a command of the unknown type ${command.type}`);
      return;
    }
    const message = `commands of type ${command.type} are not served here`;
    refuse(this.#outbox, requestId, { error: "NotAllowedError", message });
  }

  #close(reason: string): void {
    this.#outbox.add({ kind: "close", reason });
  }
}
