import { encodeFrame, typeOf } from "@sluice/pulsar/wire";
import type { CommandBodies, CommandOf, UnknownCommand } from "@sluice/pulsar/wire";
import type { ThrottleNotice } from "../ingress/notices/aware-connection.ts";
import { noticeCommand } from "../ingress/notices/notice-command.ts";
import { CommandPace } from "../session/connection/command-pace.ts";
import { ReadGate } from "../session/connection/read-gate.ts";
import { migratedToUs, withoutAddress } from "./broker-addresses.ts";
import { RelayOutbox } from "./effect.ts";
import type { RelayEffect } from "./effect.ts";
import { isOfProducer, isSend } from "./relay-commands.ts";
import type { BrokerFrame, ClientCommand, ClientFrame } from "./relay-commands.ts";
import { RelayConsumers } from "./session/relay-consumers.ts";
import { answer, forward, pass } from "./relay-context.ts";
import type {
  Admission,
  DeliveryAdmission,
  RelayContext,
  RelayFacts,
  RelayObstacle,
} from "./relay-context.ts";
import type { RelayEvent } from "./relay-event.ts";
import { RelayHandshake } from "./session/relay-handshake.ts";
import { RelayLife } from "./relay-life.ts";
import { RelayLookups } from "./session/relay-lookups.ts";
import { RelayProducers } from "./session/relay-producers.ts";
import type { Target } from "./target.ts";

/**
 * One client and the one upstream connection that serves it, as a function of events and time. Frames
 * go through as they are, in both directions, unless a command must not leave us (our own flag,
 * PING) or would lead the client past us (addresses of brokers). A relay touches no socket and no timer.
 * Its driver must
 * - ask `isReading` before each frame of the client, and `isReadingUpstream` before each of the upstream;
 * - send `tick` at `dueAtMs`, which may move with every event;
 * - send `end` once the client is gone.
 */
export class Relay implements RelayContext {
  readonly facts: RelayFacts;
  readonly admission: Admission;
  readonly deliveries: DeliveryAdmission;
  readonly outbox: RelayOutbox = new RelayOutbox();
  readonly gate: ReadGate<RelayObstacle> = new ReadGate(this.outbox);
  readonly #handshake: RelayHandshake;
  readonly #life: RelayLife;
  // Made when first used: an idle connection has none of them.
  #lookups: RelayLookups | undefined;
  #producers: RelayProducers | undefined;
  #consumers: RelayConsumers | undefined;
  #upstreamNames: readonly Target[] = [];
  #pace: CommandPace | undefined;
  #wasReading = true;
  #isStalled = false;
  #lastKey = 0;

  constructor(
    facts: RelayFacts,
    { admission, deliveries }: Pick<RelayContext, "admission" | "deliveries">,
    nowMs: number,
  ) {
    this.facts = facts;
    this.admission = admission;
    this.deliveries = deliveries;
    this.#handshake = new RelayHandshake(this, nowMs);
    this.#life = new RelayLife(this, nowMs);
  }

  /** Whether the client's next frame may be handed over. */
  get isReading(): boolean {
    return this.gate.isOpen && !this.outbox.isClosed;
  }

  /** Whether the upstream's next frame may be handed over. */
  get isReadingUpstream(): boolean {
    return this.#life.isReadingUpstream && !this.outbox.isClosed;
  }

  /** When `tick` is next needed. */
  get dueAtMs(): number {
    const paceEndsMs =
      this.#pace !== undefined && this.gate.has("commands") ? this.#pace.windowEndsAtMs : Infinity;
    return Math.min(this.#handshake.dueAtMs, this.#life.dueAtMs, paceEndsMs);
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

  on(event: RelayEvent, nowMs: number): readonly RelayEffect[] {
    this.#take(event, nowMs);
    const isReading = this.gate.isOpen && !this.#isStalled;
    if (isReading !== this.#wasReading) {
      this.#wasReading = isReading;
      this.#life.onReadingChanged(this.#wasReading, nowMs);
    }
    return this.outbox.take();
  }

  nextKey(): number {
    return ++this.#lastKey;
  }

  get #openProducers(): RelayProducers {
    this.#producers ??= new RelayProducers(this);
    return this.#producers;
  }

  get #openConsumers(): RelayConsumers {
    this.#consumers ??= new RelayConsumers(this);
    return this.#consumers;
  }

  get #openLookups(): RelayLookups {
    this.#lookups ??= new RelayLookups(this, this.#handshake, this.#upstreamNames);
    return this.#lookups;
  }

  #take(event: RelayEvent, nowMs: number): void {
    switch (event.kind) {
      case "frame":
        this.#onClientFrame(event.frame, nowMs);
        break;
      case "upstreamFrame":
        this.#onUpstreamFrame(event.frame, nowMs);
        break;
      case "drained":
        this.#life.onDrained(event.isWithinFrame, nowMs);
        break;
      case "upstreamDrained":
        this.#life.onUpstreamDrained(event.isWithinFrame, nowMs);
        break;
      case "written":
        this.#life.onWritten(event.answerBytes, event.unreadBytes, nowMs);
        break;
      case "stalled":
        this.#isStalled = event.isStalled;
        break;
      case "taken":
        this.#life.onTaken(event.unreadBytes, nowMs);
        break;
      case "upstreamWritten":
        this.#life.onUpstreamWritten(event.unreadBytes, nowMs);
        break;
      case "upstreamTaken":
        this.#life.onUpstreamTaken(event.unreadBytes, nowMs);
        break;
      case "released":
        this.#producers?.release(event.producer, event.frame, nowMs);
        break;
      case "permitted":
        this.#consumers?.permit(event.consumer, event.permits);
        break;
      case "throttled":
        this.gate.block(event.reason);
        break;
      case "unthrottled":
        this.gate.unblock(event.reason);
        break;
      case "notice":
        this.#tell(event.notice);
        break;
      case "violated":
        this.outbox.close(event.reason);
        break;
      case "upstreamConnected":
        this.#life.onUpstreamConnected(nowMs);
        this.#upstreamNames = event.names;
        this.#handshake.onUpstreamConnected();
        break;
      case "upstreamFailed":
        this.#handshake.onUpstreamFailed(event.reason);
        break;
      case "upstreamClosed":
        this.#onUpstreamGone(event.reason);
        break;
      case "followed":
        this.#lookups?.onFollowed(event.answer);
        break;
      case "tick":
        this.#onTick(nowMs);
        break;
      case "stopReading":
        this.gate.block("closing");
        break;
      case "end":
        this.#onEnd(nowMs);
        break;
    }
  }

  #onClientFrame(frame: ClientFrame, nowMs: number): void {
    const { command } = frame;
    this.#life.onClientFrame(nowMs);
    if (isSend(frame) && this.#handshake.isOpen) {
      this.#openProducers.onClientFrame(frame, nowMs);
      return;
    }
    if (!isUnpaced(command)) this.#countCommand(nowMs);
    if (command.kind === "ping") answer(this, { kind: "pong", body: {} });
    else if (command.kind === "pong") return;
    else if (!this.#handshake.isOpen) this.#handshake.onClientFrame(frame, nowMs);
    else this.#onClientCommand(frame, nowMs);
  }

  #onClientCommand(frame: ClientFrame, nowMs: number): void {
    const { command } = frame;
    switch (command.kind) {
      case "send":
      case "producer":
      case "closeProducer":
        if (isOfProducer(frame)) this.#openProducers.onClientFrame(frame, nowMs);
        break;
      case "subscribe":
        this.#openConsumers.subscribe(frame, command.body, nowMs);
        break;
      case "closeConsumer":
      case "unsubscribe":
        this.#openConsumers.close(frame, command.body, nowMs);
        break;
      case "lookup":
        this.#openLookups.lookUp(frame, command.body);
        break;
      case "connect":
        this.outbox.close("a second CONNECT");
        break;
      case "unknown":
        this.#onUnknown(frame, command, nowMs);
        break;
      case "ping":
      case "pong":
        break;
      case "authResponse":
        this.#handshake.onAuthResponse(command.body);
        pass(this, frame);
        break;
      // A server that decodes more than a relay looks into must not lose it.
      default:
        pass(this, frame);
    }
  }

  #onUpstreamFrame(frame: BrokerFrame, nowMs: number): void {
    const { command } = frame;
    this.#life.onUpstreamFrame(nowMs);
    if (command.kind === "ping")
      this.outbox.add({ kind: "toUpstream", bytes: encodeFrame({ kind: "pong", body: {} }) });
    else if (command.kind === "pong") return;
    else if (!this.#handshake.isOpen) this.#handshake.onUpstreamFrame(frame);
    else this.#onUpstreamCommand(frame, nowMs);
  }

  #onUpstreamCommand(frame: BrokerFrame, nowMs: number): void {
    const { command } = frame;
    switch (command.kind) {
      case "sendReceipt":
      case "sendError":
        this.#producers?.receipt(command.body.producerId, nowMs);
        forward(this, frame);
        break;
      case "producerSuccess":
        this.#producers?.opened(command.body);
        forward(this, frame);
        break;
      case "success":
      case "error":
        if (this.#producers?.settle(command.body.requestId, nowMs) !== true)
          this.#consumers?.settle(command.body.requestId, command.kind === "success", nowMs);
        forward(this, frame);
        break;
      case "closeProducer":
        this.#producers?.closedByBroker(command.body.producerId, nowMs);
        this.#forwardClose(frame, command);
        break;
      case "closeConsumer":
        this.#consumers?.closedByBroker(command.body.consumerId, nowMs);
        this.#forwardClose(frame, command);
        break;
      case "lookupResponse":
        this.#openLookups.onAnswer(frame, command.body);
        break;
      case "topicMigrated":
        this.#onMigrated(command.body);
        break;
      case "ping":
      case "pong":
        break;
      case "unknown":
        if (this.#isThrottle(command.type)) break;
        this.#consumers?.delivered(frame, nowMs);
        forward(this, frame);
        break;
      case "connected":
      case "authChallenge":
      default:
        forward(this, frame);
    }
  }

  #forwardClose(frame: BrokerFrame, command: CommandOf<"closeProducer" | "closeConsumer">): void {
    const bytes = withoutAddress(command) ?? frame.bytes;
    this.outbox.add({ kind: "toClient", bytes, isAnswer: false });
  }

  /** A topic of another cluster is not reached through this upstream: an operator has to know. */
  #onMigrated(body: CommandBodies["topicMigrated"]): void {
    const { resourceId, resourceType, brokerServiceUrl, brokerServiceUrlTls } = body;
    const topic =
      resourceType === PRODUCER_RESOURCE
        ? this.#producers?.topicOf(resourceId)
        : this.#consumers?.get(resourceId)?.topic;
    const url = brokerServiceUrl ?? brokerServiceUrlTls ?? "";
    this.outbox.add({ kind: "topicMigrated", topic: topic ?? "", url });
    const bytes = migratedToUs(body, this.facts);
    this.outbox.add({ kind: "toClient", bytes, isAnswer: false });
  }

  #countCommand(nowMs: number): void {
    this.#pace ??= new CommandPace(this.facts.limits.commandsPerSecond, nowMs);
    if (!this.#pace.count(nowMs)) this.gate.block("commands");
  }

  /** A broker that sends throttle commands was not asked to; a client takes them only from us. */
  #isThrottle(type: number): boolean {
    const { throttleProducer, throttleProducerReceipt } = this.facts.throttle.numbers;
    return type === throttleProducer || type === throttleProducerReceipt;
  }

  /** ACK, FLOW and all others that need no look; our own commands are for us alone. */
  #onUnknown(frame: ClientFrame, command: UnknownCommand, nowMs: number): void {
    const { throttle } = this.facts;
    const { throttleProducer, throttleProducerReceipt } = throttle.numbers;
    if (command.type === throttleProducer) return;
    if (command.type !== throttleProducerReceipt) {
      if (this.#consumers === undefined) pass(this, frame);
      else this.#consumers.passOrFlow(frame, command, nowMs);
      return;
    }
    const decoded = throttle.decode(command);
    if (decoded?.kind === "throttleProducerReceipt" && this.#handshake.knowsThrottle)
      this.admission.noticed(decoded.body.requestId, nowMs);
  }

  #tell(notice: ThrottleNotice): void {
    if (this.#handshake.knowsThrottle) answer(this, noticeCommand(this.facts.throttle, notice));
  }

  #onTick(nowMs: number): void {
    if (this.#pace !== undefined && nowMs >= this.#pace.windowEndsAtMs)
      this.gate.unblock("commands");
    this.#handshake.tick(nowMs);
    const gone = this.#life.tick(this.#handshake.isOpen, nowMs);
    if (gone !== undefined) this.#onUpstreamGone(gone);
  }

  /** The client looks its topics up again, and sends again what has no receipt. */
  #onUpstreamGone(reason: string): void {
    if (this.#handshake.isOpen) {
      this.outbox.add({ kind: "upstreamLost", reason });
      this.outbox.close(`its broker is gone: ${reason}`);
    } else this.#handshake.onUpstreamFailed(`the broker ended the connection: ${reason}`);
  }

  #onEnd(nowMs: number): void {
    this.outbox.seal();
    this.#producers?.endAll(nowMs);
    this.#consumers?.endAll(nowMs);
    this.#lookups?.endAll();
    this.outbox.add({ kind: "closeUpstream" });
  }
}

/** `CommandTopicMigrated.ResourceType` of a producer; any other value is a consumer. */
const PRODUCER_RESOURCE = 0;

/** ACK, FLOW and REDELIVER_UNACKNOWLEDGED_MESSAGES: permits and what is unread bound them. */
const UNPACED_TYPES: ReadonlySet<number> = new Set(
  (["ack", "flow", "redeliverUnacknowledged"] as const).map(typeOf),
);

/** Commands that are not counted by the second. */
function isUnpaced(command: ClientCommand): boolean {
  return command.kind === "unknown" ? UNPACED_TYPES.has(command.type) : command.kind === "pong";
}
