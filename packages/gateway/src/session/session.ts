import { requestIdOf } from "@sluice/pulsar/wire";
import type { CommandKind, CommandOf, Frame, UnknownCommand } from "@sluice/pulsar/wire";
import type { Action } from "../auth/permissions.ts";
import { notAllowed } from "../refusal/refusal.ts";
import type { Refusal } from "../refusal/refusal.ts";
import { CommandPace } from "./command-pace.ts";
import { Consumers } from "./consumers.ts";
import { Outbox } from "./effect.ts";
import type { Effect } from "./effect.ts";
import { Handshake } from "./handshake.ts";
import { KeepAlive } from "./keep-alive.ts";
import { OutboundWatch } from "./outbound-watch.ts";
import { Producers } from "./producers.ts";
import { ReadGate } from "./read-gate.ts";
import type { Obstacle } from "./read-gate.ts";
import { refuse } from "./reply.ts";
import { Requests } from "./requests.ts";
import type { SessionContext, SessionFacts } from "./session-context.ts";
import type { SessionEvent } from "./session-event.ts";

/**
 * Pulsar's protocol as one connection sees it, as a function of events and time: `on` takes what has
 * happened and answers what is to be done. A session touches no socket, no timer and no topic. Its
 * driver must
 * - ask `isReading` before each frame that it hands over, and hand over none while it is false;
 * - send `tick` at `dueAtMs`, which may move with every event;
 * - send `end` once the connection is gone.
 */
export class Session implements SessionContext {
  readonly facts: SessionFacts;
  readonly outbox: Outbox = new Outbox();
  readonly gate: ReadGate = new ReadGate(this.outbox);
  readonly #handshake: Handshake;
  readonly #keepAlive: KeepAlive;
  readonly #outbound: OutboundWatch;
  #lastKey = 0;
  #wasReading = true;
  // Made when first used: most connections of a large broker are idle.
  #pace: CommandPace | undefined;
  #producers: Producers | undefined;
  #consumers: Consumers | undefined;
  #requests: Requests | undefined;

  constructor(facts: SessionFacts, nowMs: number) {
    this.facts = facts;
    this.#handshake = new Handshake(this, nowMs);
    this.#keepAlive = new KeepAlive(facts.limits, nowMs);
    this.#outbound = new OutboundWatch(facts.limits);
  }

  /** Whether the next frame may be handed over. */
  get isReading(): boolean {
    return this.gate.isOpen && !this.outbox.isClosed;
  }

  /** What keeps frames from being read, oldest first. */
  get obstacles(): readonly Obstacle[] {
    return this.gate.obstacles;
  }

  /** When `tick` is next needed. */
  get dueAtMs(): number {
    const paceEndsMs =
      this.#pace !== undefined && this.gate.has("commands") ? this.#pace.windowEndsAtMs : Infinity;
    return Math.min(
      this.#handshake.dueAtMs,
      this.#keepAlive.dueAtMs,
      this.#outbound.dueAtMs,
      paceEndsMs,
    );
  }

  get role(): string | undefined {
    return this.#handshake.role;
  }

  get clientVersion(): string {
    return this.#handshake.clientVersion;
  }

  get producers(): number {
    return this.#producers?.size ?? 0;
  }

  get consumers(): number {
    return this.#consumers?.size ?? 0;
  }

  get pendingSends(): number {
    return this.#producers?.pendingSends ?? 0;
  }

  on(event: SessionEvent, nowMs: number): readonly Effect[] {
    this.#take(event, nowMs);
    if (this.gate.isOpen !== this.#wasReading) {
      this.#wasReading = this.gate.isOpen;
      this.#keepAlive.onReadingChanged(this.#wasReading, nowMs);
    }
    return this.outbox.take();
  }

  nextKey(): number {
    return ++this.#lastKey;
  }

  denies(action: Action, topic: string): Refusal | undefined {
    const { permissions } = this.facts;
    const { role } = this;
    if (permissions === undefined || permissions.allows(role, action, topic)) return undefined;
    const what = action === "lookup" ? "look up" : `${action} on`;
    const message = `role ${role ?? "anonymous"} may not ${what} ${topic}; add a pattern to its ${action === "lookup" ? "produce or consume" : action} list`;
    this.outbox.add({ kind: "refused", reason: message });
    return { error: "AuthorizationError", message };
  }

  visible(topics: readonly string[]): readonly string[] {
    return this.facts.permissions?.visible(this.role, "lookup", topics) ?? topics;
  }

  #take(event: SessionEvent, nowMs: number): void {
    switch (event.kind) {
      case "frame":
        this.#onFrame(event.frame, nowMs);
        break;
      case "drained":
        this.#keepAlive.onDrained(event.isWithinFrame, nowMs);
        break;
      case "written":
        this.#onWritten(event.answerBytes, event.unreadBytes, nowMs);
        break;
      case "taken":
        if (this.#outbound.onTaken(event.unreadBytes, nowMs) !== "free") break;
        this.gate.unblock("outbound");
        this.outbox.add({ kind: "resumeDelivery" });
        break;
      case "tick":
        this.#onTick(nowMs);
        break;
      case "stopReading":
        this.gate.block("closing");
        break;
      case "end":
        this.outbox.seal();
        this.#producers?.endAll();
        this.#consumers?.endAll();
        break;
      case "authenticated":
        this.#handshake.authenticated(event.role, event.expiresInMs, nowMs);
        break;
      case "authenticationFailed":
        this.#handshake.authenticationFailed(event.message);
        break;
      case "producerOpened":
        this.#openProducers.opened(event);
        break;
      case "producerReady":
        this.#openProducers.ready(event.producer, event.topicEpoch);
        break;
      case "producerFailed":
        this.#openProducers.failed(event.producer, event.refusal);
        break;
      case "producerClosed":
        this.#openProducers.ended(event.producer);
        break;
      case "published":
        this.#openProducers.published(event.producer, event.sequence, event.messageId);
        break;
      case "publishFailed":
        this.#openProducers.publishFailed(event.producer, event.sequence, event.refusal);
        break;
      case "subscribed":
        this.#openConsumers.subscribed(event.consumer, event.isActive);
        break;
      case "subscribeFailed":
        this.#openConsumers.failed(event.consumer, event.refusal);
        break;
      case "delivered":
        this.#openConsumers.deliver(event.consumer, event.messages);
        break;
      case "activeChanged":
        this.#openConsumers.activeChanged(event.consumer, event.isActive);
        break;
      case "reachedEnd":
        this.#openConsumers.reachedEnd(event.consumer);
        break;
      case "consumerClosed":
        this.#openConsumers.ended(event.consumer);
        break;
      case "acknowledged":
        this.#openConsumers.acknowledged(event);
        break;
      case "answered":
        if (event.question.about === "unsubscribe")
          this.#openConsumers.unsubscribed(event.question.consumer);
        this.#openRequests.answer(event.question, event.answer);
        break;
      case "refused":
        this.#openRequests.refuse(event.question, event.refusal);
        break;
    }
  }

  get #openProducers(): Producers {
    this.#producers ??= new Producers(this);
    return this.#producers;
  }

  get #openConsumers(): Consumers {
    this.#consumers ??= new Consumers(this);
    return this.#consumers;
  }

  get #openRequests(): Requests {
    this.#requests ??= new Requests(this);
    return this.#requests;
  }

  #onFrame({ command, entry }: Frame, nowMs: number): void {
    this.#keepAlive.onFrame(nowMs);
    if (!this.#handshake.isOpen && !BEFORE_CONNECTED.has(command.kind)) {
      this.outbox.close(`${command.kind} before CONNECT`);
      return;
    }
    if (command.kind === "send") {
      this.#openProducers.send(command.body, entry);
      return;
    }
    if (!UNPACED.has(command.kind)) {
      this.#pace ??= new CommandPace(this.facts.limits.commandsPerSecond, nowMs);
      if (!this.#pace.count(nowMs)) this.gate.block("commands");
    }
    if (command.kind === "unknown") this.#refuseUnknown(command);
    else this.#onCommand(command);
  }

  #onCommand(command: CommandOf<CommandKind>): void {
    switch (command.kind) {
      case "connect":
        this.#handshake.connect(command.body);
        break;
      case "authResponse":
        this.#handshake.authResponse(command.body);
        break;
      case "ping":
        this.outbox.send({ kind: "pong", body: {} });
        break;
      case "pong":
        break;
      case "producer":
        this.#openProducers.open(command.body);
        break;
      case "closeProducer":
        this.#openProducers.close(command.body);
        break;
      case "subscribe":
        this.#openConsumers.subscribe(command.body);
        break;
      case "flow":
        this.#openConsumers.flow(command.body);
        break;
      case "ack":
        this.#openConsumers.ack(command.body);
        break;
      case "redeliverUnacknowledged":
        this.#openConsumers.redeliver(command.body);
        break;
      case "closeConsumer":
        this.#openConsumers.close(command.body);
        break;
      case "lookup":
        this.#openRequests.lookup(command.body);
        break;
      case "partitionedMetadata":
        this.#openRequests.partitions(command.body);
        break;
      case "getTopicsOfNamespace":
        this.#openRequests.topics(command.body);
        break;
      case "getSchema":
        this.#openRequests.schema(command.body);
        break;
      case "getOrCreateSchema":
        this.#openRequests.newSchema(command.body);
        break;
      case "getLastMessageId":
        this.#openRequests.ofConsumer("lastMessageId", this.#openConsumers, command.body);
        break;
      case "unsubscribe":
      case "consumerStats":
        this.#openRequests.ofConsumer(command.kind, this.#openConsumers, command.body);
        break;
      case "seek":
        this.#openRequests.seek(this.#openConsumers, command.body);
        break;
      case "ackResponse":
      case "activeConsumerChange":
      case "authChallenge":
      case "connected":
      case "consumerStatsResponse":
      case "error":
      case "getLastMessageIdResponse":
      case "getOrCreateSchemaResponse":
      case "getSchemaResponse":
      case "getTopicsOfNamespaceResponse":
      case "lookupResponse":
      case "message":
      case "partitionedMetadataResponse":
      case "producerSuccess":
      case "reachedEndOfTopic":
      case "send":
      case "sendError":
      case "sendReceipt":
      case "success":
      case "topicMigrated":
        this.outbox.close(`${command.kind} is a command that only brokers send`);
    }
  }

  #onWritten(answerBytes: number, unreadBytes: number, nowMs: number): void {
    const change = this.#outbound.onWritten(answerBytes, unreadBytes, nowMs);
    if (change === "tooMuch") this.outbox.close("the client does not read the answers it asks for");
    if (change === "full") this.outbox.add({ kind: "pauseDelivery" });
    if (change === "deaf") this.gate.block("outbound");
  }

  #onTick(nowMs: number): void {
    if (this.#pace !== undefined && nowMs >= this.#pace.windowEndsAtMs)
      this.gate.unblock("commands");
    this.#handshake.tick(nowMs);
    const action = this.#keepAlive.due(nowMs);
    if (typeof action === "object") this.outbox.close(action.closeBecause);
    else if (action === "ping" && this.#handshake.isOpen)
      this.outbox.send({ kind: "ping", body: {} });
    if (nowMs >= this.#outbound.dueAtMs)
      this.outbox.close(`the client took no byte in ${this.facts.limits.unwritableMs} ms`);
  }

  #refuseUnknown(command: UnknownCommand): void {
    const requestId = requestIdOf(command);
    const what = featureOf(command.type);
    if (requestId === undefined) this.outbox.close(`${what} are not supported`);
    else refuse(this.outbox, requestId, notAllowed(`${what} are not supported by this broker`));
  }
}

const BEFORE_CONNECTED: ReadonlySet<string> = new Set(["connect", "authResponse", "ping"]);

/** Commands that are not counted by the second: permits, and what is unread, bound them. */
const UNPACED: ReadonlySet<string> = new Set(["ack", "flow", "pong"]);

/** What a command of a type that this broker does not know belongs to, by Pulsar's own numbers. */
function featureOf(type: number): string {
  if (type >= 50 && type <= 63) return "transactions";
  if (type >= 64 && type <= 67) return "topic list watchers";
  return `commands of type ${type}`;
}
