import { Fifo } from "@sluice/core/internal";
import type { ThrottleCodec } from "@sluice/pulsar/wire";
import { AuthenticationError } from "../../auth/authentication-error.ts";
import { refusalOf } from "../../refusal/refusal-of.ts";
import type { Effect } from "../../session/effect.ts";
import type { Answer, Question } from "../../session/request/question.ts";
import type { SessionFacts } from "../../session/session-context.ts";
import type { ConnectionEvent, ResultEvent, SessionEvent } from "../../session/session-event.ts";
import { Session } from "../../session/session.ts";
import type { Backend, Wire } from "../backend.ts";
import { answerTo } from "./answers.ts";
import { ClientBytes } from "./client-bytes.ts";
import { EmbeddedConsumers } from "./embedded-consumers.ts";
import { EmbeddedProducers } from "./embedded-producers.ts";
import { requireMemory } from "./embedded-world.ts";
import type { ClosedByBroker, EmbeddedConnection, EmbeddedWorld } from "./embedded-world.ts";
import { ackOf, PackedAcks } from "./packed-acks.ts";

type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { readonly kind: Kind }>;

/** An ACK or REDELIVER that waits. */
interface LeftAcks {
  readonly kind: "leftAcks";
  readonly effect: EffectOf<"ack"> | EffectOf<"redeliver">;
  readonly acks: PackedAcks;
}

/** Message ids of one ACK or REDELIVER that are handled in one step of work. */
const IDS_PER_STEP = 256;

/** Producers and consumers of a connection that are closed in one step. */
const CLOSED_AT_ONCE_MAX = 32;

/** Answers with fewer topic names, or with a smaller schema, are sent even while memory is exhausted. */
const SMALL_ANSWER = { names: 100, schemaBytes: 8_192 };

/** Serves one connection from the topics of this process: carries out what its session wants. */
export class EmbeddedBackend implements Backend, EmbeddedConnection {
  readonly #wire: Wire;
  readonly #world: EmbeddedWorld;
  readonly #session: Session;
  readonly #throttle: ThrottleCodec | undefined;
  // Made when first used.
  #producers: EmbeddedProducers | undefined;
  #consumers: EmbeddedConsumers | undefined;
  #clientBytes: ClientBytes | undefined;
  #isThrottleAware = false;
  /** Effects that are left to do, and results that are left to report, in order. */
  #left: Fifo<Effect | ClosedByBroker | LeftAcks> | undefined;
  /** Message ids of the first of them that are done. */
  #idsDone = 0;
  /** Producers and consumers that the broker has closed at one time. */
  #closedAtMs = -Infinity;
  #closedAtOnce = 0;

  constructor(wire: Wire, world: EmbeddedWorld, facts: SessionFacts) {
    this.#wire = wire;
    this.#world = world;
    this.#throttle = facts.throttle;
    this.#session = new Session(facts, world.clock.now());
  }

  get isReading(): boolean {
    return this.#session.isReading;
  }

  get hasWork(): boolean {
    return (this.#left?.length ?? 0) > 0 || (this.#producers?.noticeBytes ?? 0) > 0;
  }

  get dueAtMs(): number {
    return this.#session.dueAtMs;
  }

  get producers(): number {
    return this.#session.producers;
  }

  get consumers(): number {
    return this.#session.consumers;
  }

  get pendingSends(): number {
    return this.#producers?.pending ?? 0;
  }

  get keptBytes(): number {
    return this.#producers?.keptBytes ?? 0;
  }

  get address(): string {
    return this.#wire.address;
  }

  get clientVersion(): string {
    return this.#session.clientVersion;
  }

  get clientBytes(): ClientBytes {
    this.#clientBytes ??= new ClientBytes(this.#world.memory);
    return this.#clientBytes;
  }

  receive(event: ConnectionEvent, nowMs: number): void {
    this.#on(event, nowMs);
  }

  tick(nowMs: number): void {
    this.#on({ kind: "tick" }, nowMs);
  }

  end(nowMs: number): void {
    // First: closing a producer must not let others that wait go.
    this.#producers?.end(nowMs);
    this.#on({ kind: "end" }, nowMs);
  }

  work(): void {
    this.#tellNotices();
    const effect = this.#left?.peek();
    if (effect === undefined) return;
    if (effect.kind === "producerClosed" || effect.kind === "consumerClosed") {
      this.#left?.shift();
      this.report(effect);
      return;
    }
    if (effect.kind !== "leftAcks") {
      this.#left?.shift();
      this.#carryOut(effect);
      return;
    }
    const acks = effect.acks.slice(this.#idsDone, this.#idsDone + IDS_PER_STEP);
    this.#idsDone += acks.length;
    const isLast = this.#idsDone >= effect.acks.length;
    if (this.#openConsumers.step(effect.effect, acks, isLast) && !isLast) return;
    this.#idsDone = 0;
    this.#left?.shift();
  }

  readonly report = (event: ResultEvent): void => {
    this.#on(event, this.#world.clock.now());
  };

  /** A topic may close thousands at once: of the most, the client is told in a turn of its connection. */
  reportClosed(event: ClosedByBroker): void {
    const nowMs = this.#world.clock.now();
    if (nowMs !== this.#closedAtMs) this.#closedAtOnce = 0;
    this.#closedAtMs = nowMs;
    if (++this.#closedAtOnce > CLOSED_AT_ONCE_MAX) this.#leave(event);
    else this.report(event);
  }

  get #openProducers(): EmbeddedProducers {
    if (this.#producers === undefined) {
      this.#producers = new EmbeddedProducers(this.#wire, this.#world, this, this.#throttle);
      if (this.#isThrottleAware) this.#producers.setAware();
    }
    return this.#producers;
  }

  get #openConsumers(): EmbeddedConsumers {
    this.#consumers ??= new EmbeddedConsumers(this.#world, this);
    return this.#consumers;
  }

  #on(event: SessionEvent, nowMs: number): void {
    const effects = this.#session.on(event, nowMs);
    if (effects.length === 0) return;
    // The end of a connection closes all its producers and consumers.
    const isMany = event.kind === "end" && effects.length > CLOSED_AT_ONCE_MAX;
    let answerBytes = 0;
    let hasSent = false;
    for (const effect of effects) {
      if (effect.kind === "send") {
        const bytes = this.#wire.send(effect.command, effect.entry);
        hasSent = true;
        // Messages are held back while the client does not read, so that only answers can pile up.
        if (effect.entry === undefined) answerBytes += bytes;
      } else if (isMany || isLong(effect) || (this.hasWork && isOrdered(effect)))
        this.#leave(effect);
      else this.#carryOut(effect);
    }
    if (hasSent) this.#tellWritten(answerBytes, nowMs);
  }

  #tellWritten(answerBytes: number, nowMs: number): void {
    this.#on({ kind: "written", answerBytes, unreadBytes: this.#wire.unreadBytes }, nowMs);
  }

  #tellNotices(): void {
    const bytes = this.#producers?.noticeBytes ?? 0;
    if (this.#producers === undefined || bytes === 0) return;
    this.#producers.noticeBytes = 0;
    this.#tellWritten(bytes, this.#world.clock.now());
  }

  #leave(effect: Effect | ClosedByBroker): void {
    this.#left ??= new Fifo();
    if (effect.kind === "ack" || effect.kind === "redeliver") {
      const acks = PackedAcks.taking(effect.messageIds);
      this.#left.push({ kind: "leftAcks", effect, acks });
    } else this.#left.push(effect);
    this.#wire.wake();
  }

  onContested(): void {
    this.report({ kind: "contested" });
    // Sets the alarm for the end of the probe.
    this.#wire.wake();
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case "send":
        break;
      case "publish":
        this.#openProducers.send(effect);
        break;
      case "close":
        this.#wire.close(effect.reason);
        break;
      case "readingChanged":
        this.#wire.wake();
        break;
      case "pauseDelivery":
        this.#openConsumers.pause();
        break;
      case "resumeDelivery":
        this.#openConsumers.resume();
        break;
      case "setFrameBytesMax":
        this.#wire.setFrameBytesMax(effect.bytes);
        break;
      case "authenticate":
        void this.#authenticate(effect.credentials);
        break;
      case "refused":
        this.#world.observe({
          kind: "client-refused",
          address: this.#wire.address,
          reason: effect.reason,
        });
        break;
      case "throttleAware":
        this.#isThrottleAware = true;
        break;
      case "throttleReceipt":
        this.#openProducers.receipt(effect.requestId);
        break;
      case "openProducer":
        void this.#openProducers.open(effect.producer, effect.request);
        break;
      case "dropHeld":
        this.#openProducers.dropHeld(effect.producer);
        break;
      case "closeProducer":
        this.#openProducers.close(effect.producer);
        break;
      case "subscribe":
        void this.#openConsumers.subscribe(effect.consumer, effect.request);
        break;
      case "flow":
        this.#openConsumers.flow(effect);
        break;
      case "ack":
      case "redeliver":
        this.#openConsumers.step(effect, effect.messageIds.map(ackOf), true);
        break;
      case "closeConsumer":
        this.#openConsumers.close(effect.consumer);
        break;
      case "ask":
        this.#ask(effect.question);
        break;
    }
  }

  #ask(question: Question): void {
    const consumer = "consumer" in question ? this.#consumers?.get(question.consumer) : undefined;
    const refuse = (error: unknown): void =>
      this.report({ kind: "refused", question, refusal: refusalOf(error) });
    try {
      const answer = answerTo(question, consumer, this.#world);
      if (answer instanceof Promise)
        answer.then((later) => this.#answer(question, later)).catch(refuse);
      else this.#answer(question, answer);
    } catch (error) {
      refuse(error);
    }
  }

  #answer(question: Question, answer: Answer): void {
    if (isLarge(answer)) requireMemory(this.#world.memory.isDeliveryExhausted);
    if (question.about === "unsubscribe") this.#openConsumers.drop(question.consumer);
    this.report({ kind: "answered", question, answer });
  }

  async #authenticate(credentials: Uint8Array): Promise<void> {
    const { authenticator, wallClock } = this.#world;
    try {
      const token = Buffer.from(credentials).toString("utf8");
      const identity = await authenticator?.authenticate(token);
      if (identity === undefined) throw new AuthenticationError("authentication is not configured");
      const { role, expiresAtMs } = identity;
      const expiresInMs = expiresAtMs === undefined ? undefined : expiresAtMs - wallClock.now();
      this.report({ kind: "authenticated", role, expiresInMs });
    } catch (error) {
      const message = error instanceof AuthenticationError ? error.message : "no access";
      this.report({ kind: "authenticationFailed", message });
    }
  }
}

function isLarge(answer: Answer): boolean {
  if (answer.about === "topics") return answer.names.length > SMALL_ANSWER.names;
  return answer.about === "schema" && answer.schema.schemaData.length > SMALL_ANSWER.schemaBytes;
}

/** An ACK or REDELIVER of many ids is done in steps. */
function isLong(effect: Effect): boolean {
  return (
    (effect.kind === "ack" || effect.kind === "redeliver") &&
    effect.messageIds.length > IDS_PER_STEP
  );
}

/** Effects that must not overtake an ACK or REDELIVER that is not done. */
function isOrdered({ kind }: Effect): boolean {
  return (
    kind === "ack" ||
    kind === "redeliver" ||
    kind === "flow" ||
    kind === "ask" ||
    kind === "closeConsumer" ||
    kind === "closeProducer"
  );
}
