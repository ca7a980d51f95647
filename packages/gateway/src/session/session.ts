import type { Frame } from "@sluice/pulsar/wire";
import type { Action } from "../auth/permissions.ts";
import type { Refusal } from "../refusal/refusal.ts";
import { onCommand } from "./client-command.ts";
import { CommandPace } from "./connection/command-pace.ts";
import { Outbox } from "./effect.ts";
import type { Effect } from "./effect.ts";
import { KeepAlive } from "./connection/keep-alive.ts";
import { OutboundWatch } from "./connection/outbound-watch.ts";
import { ReadGate } from "./connection/read-gate.ts";
import type { Obstacle } from "./connection/read-gate.ts";
import type { SessionContext, SessionFacts } from "./session-context.ts";
import type { SessionEvent } from "./session-event.ts";
import { SessionParts } from "./session-parts.ts";
import { onUnknownCommand } from "./unknown-command.ts";

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
  readonly #parts: SessionParts;
  readonly #keepAlive: KeepAlive;
  readonly #outbound: OutboundWatch;
  #lastKey = 0;
  #wasReading = true;
  #isStalled = false;
  /** Made when first used. */
  #pace: CommandPace | undefined;

  constructor(facts: SessionFacts, nowMs: number) {
    this.facts = facts;
    this.#parts = new SessionParts(this, nowMs);
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
      this.#parts.handshake.dueAtMs,
      this.#keepAlive.dueAtMs,
      this.#outbound.dueAtMs,
      paceEndsMs,
    );
  }

  get role(): string | undefined {
    return this.#parts.handshake.role;
  }

  get clientVersion(): string {
    return this.#parts.handshake.clientVersion;
  }

  get producers(): number {
    return this.#parts.producerCount;
  }

  get consumers(): number {
    return this.#parts.consumerCount;
  }

  on(event: SessionEvent, nowMs: number): readonly Effect[] {
    this.#take(event, nowMs);
    const isReading = this.gate.isOpen && !this.#isStalled;
    if (isReading !== this.#wasReading) {
      this.#wasReading = isReading;
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
    const message = `role ${role ?? "anonymous"} may not ${what} ${topic}; add a pattern to its ${action === "lookup" ? "produce or consume" : action} list, or grant the permission`;
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
      case "stalled":
        this.#isStalled = event.isStalled;
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
        this.#parts.endAll();
        break;
      case "authenticated":
        this.#parts.handshake.authenticated(event.role, event.expiresInMs, nowMs);
        break;
      case "authenticationFailed":
        this.#parts.handshake.authenticationFailed(event.message);
        break;
      case "throttled":
        this.gate.block(event.reason);
        break;
      case "unthrottled":
        this.gate.unblock(event.reason);
        break;
      case "producerOpened":
        this.#parts.producers.opened(event);
        break;
      case "producerReady":
        this.#parts.producers.ready(event.producer, event.topicEpoch);
        break;
      case "producerFailed":
        this.#parts.producers.failed(event.producer, event.refusal);
        break;
      case "producerClosed":
        this.#parts.producers.ended(event.producer);
        break;
      case "published":
        this.#parts.producers.published(event.producer, event.sequence, event.messageId);
        break;
      case "publishFailed":
        this.#parts.producers.publishFailed(event.producer, event.sequence, event.refusal);
        break;
      case "subscribed":
        this.#parts.consumers.subscribed(event.consumer, event.isActive);
        break;
      case "subscribeFailed":
        this.#parts.consumers.failed(event.consumer, event.refusal);
        break;
      case "delivered":
        this.#parts.consumers.deliver(event.consumer, event.messages);
        break;
      case "activeChanged":
        this.#parts.consumers.activeChanged(event.consumer, event.isActive);
        break;
      case "reachedEnd":
        this.#parts.consumers.reachedEnd(event.consumer);
        break;
      case "consumerClosed":
        this.#parts.consumers.ended(event.consumer);
        break;
      case "contested":
        if (this.#keepAlive.probe(nowMs)) this.outbox.send({ kind: "ping", body: {} });
        break;
      case "acknowledged":
        this.#parts.consumers.acknowledged(event);
        break;
      case "answered":
        if (event.question.about === "unsubscribe")
          this.#parts.consumers.unsubscribed(event.question.consumer);
        this.#parts.requests.answer(event.question, event.answer);
        break;
      case "refused":
        this.#parts.requests.refuse(event.question, event.refusal);
        break;
    }
  }

  #onFrame({ command, entry }: Frame, nowMs: number): void {
    this.#keepAlive.onFrame(nowMs);
    if (!this.#parts.handshake.isOpen && !BEFORE_CONNECTED.has(command.kind)) {
      this.outbox.close(`${command.kind} before CONNECT`);
      return;
    }
    if (command.kind === "send") {
      this.#parts.producers.send(command.body, entry);
      return;
    }
    if (!UNPACED.has(command.kind)) {
      this.#pace ??= new CommandPace(this.facts.limits.commandsPerSecond, nowMs);
      if (!this.#pace.count(nowMs)) this.gate.block("commands");
    }
    if (command.kind === "unknown")
      onUnknownCommand(this, command, this.#parts.handshake.isThrottleAware);
    else onCommand(this.#parts, command);
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
    this.#parts.handshake.tick(nowMs);
    const action = this.#keepAlive.due(nowMs);
    if (typeof action === "object") this.outbox.close(action.closeBecause);
    else if (action === "ping" && this.#parts.handshake.isOpen)
      this.outbox.send({ kind: "ping", body: {} });
    if (nowMs >= this.#outbound.dueAtMs)
      this.outbox.close(`the client took no byte in ${this.facts.limits.unwritableMs} ms`);
  }
}

const BEFORE_CONNECTED: ReadonlySet<string> = new Set(["connect", "authResponse", "ping"]);

/** Commands that are not counted by the second: permits, and what is unread, bound them. */
const UNPACED: ReadonlySet<string> = new Set(["ack", "flow", "pong"]);
