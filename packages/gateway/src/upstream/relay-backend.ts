import { ProtocolError } from "@sluice/pulsar/wire";
import type { FrameRoom } from "../memory/frame-room.ts";
import type { Dispatch } from "../ingress/dispatch/dispatch.ts";
import type { Ingress } from "../ingress/ingress.ts";
import { plainText } from "../refusal/refusal.ts";
import type { RelayEffect } from "../relay/effect.ts";
import type { ClientFrame } from "../relay/relay-commands.ts";
import type { RelayFacts } from "../relay/relay-context.ts";
import type { RelayEvent } from "../relay/relay-event.ts";
import { Relay } from "../relay/relay.ts";
import type { Target } from "../relay/target.ts";
import type { Backend, Wire } from "../server/backend.ts";
import { LARGE_FRAME_MS } from "../server/socket/read/large-frame.ts";
import type { ConnectionEvent } from "../session/session-event.ts";
import type { Clock } from "@sluice/core";
import type { DialedBroker } from "./dialer.ts";
import { DispatchAdmission } from "./dispatch-admission.ts";
import { IngressAdmission } from "./ingress-admission.ts";
import type { RelayedSend } from "./ingress-admission.ts";
import { LargeDelivery } from "./large-delivery.ts";
import type { RedirectedLookup } from "./lookup-follower.ts";
import type { TargetGuard } from "./target-guard.ts";
import { UpstreamCalls } from "./upstream-calls.ts";
import type { CallWorld } from "./upstream-calls.ts";
import { UpstreamLink } from "./upstream-link.ts";
import type { LinkWorld } from "./upstream-link.ts";

/** What all relays of a gateway share. */
export interface RelayWorld extends LinkWorld, CallWorld {
  readonly clock: Clock;
  readonly facts: RelayFacts;
  readonly ingress: Ingress<RelayedSend>;
  readonly dispatch: Dispatch;
  readonly guard: TargetGuard;
  /** Bytes have arrived: the memory may be full. */
  readonly relieve: () => void;
  /** For large frames of brokers. */
  readonly frameRoom: FrameRoom;
}

interface ClientFrameEvent {
  readonly kind: "frame";
  readonly frame: ClientFrame;
}

/** Frames of a broker that are handled at once when they arrive; one takes some 2 µs. */
const FRAMES_AT_ONCE = 256;

/** Frames that are handled in one step of work. */
const FRAMES_PER_STEP = 32;

/**
 * While messages to clients fill the budget, a broker is not read for a client that has left more than
 * this unread. A client that keeps up gets its receipts all the same.
 */
const UNREAD_BYTES_SMALL = 16_384;

/** Serves one client by the connection to a broker that it is paired with. */
export class RelayBackend implements Backend {
  readonly #wire: Wire;
  readonly #world: RelayWorld;
  readonly #admission: IngressAdmission;
  readonly #relay: Relay;
  readonly #large: LargeDelivery;
  readonly #calls: UpstreamCalls;
  /** Ends dials and lookups that are on their way; undefined while there are none. */
  #calling: AbortController | undefined;
  #callCount = 0;
  #isEnded = false;
  #link: UpstreamLink | undefined;
  #target: Target | undefined;
  /** The target, once it has said CONNECTED. */
  #reached: Target | undefined;
  #lostBecause: string | undefined;
  /** Of the commands that wait in the relay. */
  #waitingBytes = 0;
  /** Frames of the broker may be left in the link. */
  #hasFrames = false;
  /** Events that came while the relay was busy with one, in order. */
  #later: { readonly event: RelayEvent; readonly nowMs: number }[] = [];
  #isBusy = false;

  constructor(wire: Wire, world: RelayWorld) {
    this.#wire = wire;
    this.#world = world;
    const { ingress, clock } = world;
    this.#admission = new IngressAdmission(ingress, wire.address, clock, (event, nowMs) =>
      this.#on(event, nowMs),
    );
    this.#calls = new UpstreamCalls(wire.address, world);
    this.#large = new LargeDelivery(world.frameRoom, world.clock, () => this.#updateLink());
    const deliveries = new DispatchAdmission(world.dispatch, wire.address, (consumer, permits) =>
      this.#on({ kind: "permitted", consumer, permits }, world.clock.now()),
    );
    const admission = this.#admission;
    this.#relay = new Relay(world.facts, { admission, deliveries }, world.clock.now());
  }

  get isReading(): boolean {
    return this.#relay.isReading;
  }

  get hasWork(): boolean {
    return this.#hasFrames && this.#mayReadLink;
  }

  get dueAtMs(): number {
    return Math.min(this.#relay.dueAtMs, this.#large.dueAtMs);
  }

  get producers(): number {
    return this.#relay.producers;
  }

  get consumers(): number {
    return this.#relay.consumers;
  }

  get pendingSends(): number {
    return this.#relay.pendingSends;
  }

  get keptBytes(): number {
    return this.#admission.heldBytes + this.#waitingBytes + (this.#link?.keptBytes ?? 0);
  }

  receive(event: ConnectionEvent, nowMs: number): void {
    // The server of a gateway decodes frames by `decodeClientFrame`.
    if (event.kind === "frame") this.#on(event as ClientFrameEvent, nowMs);
    else this.#on(event, nowMs);
    // The client has taken something: there may be room for what waits in the link.
    if (event.kind === "taken") this.#updateLink();
  }

  work(nowMs: number): void {
    this.#readLink(FRAMES_PER_STEP, nowMs);
  }

  tick(nowMs: number): void {
    if (this.#large.isLate(nowMs))
      this.#wire.close(
        `it took no large message in ${LARGE_FRAME_MS} ms while others waited for memory`,
      );
    this.#on({ kind: "tick" }, nowMs);
  }

  end(nowMs: number, isShed = false): void {
    this.#isEnded = true;
    if (isShed) this.#link?.drop();
    this.#calling?.abort();
    this.#large.leave();
    this.#on({ kind: "end" }, nowMs);
    this.#admission.end(nowMs);
    this.#countWaiting(0);
    if (this.#reached !== undefined) this.#world.watch.onEnded(this.#reached, this.#lostBecause);
    this.#reached = undefined;
  }

  #on(event: RelayEvent, nowMs: number): void {
    if (this.#isBusy) {
      this.#later.push({ event, nowMs });
      return;
    }
    try {
      this.#isBusy = true;
      const effects = this.#relay.on(event, nowMs);
      this.#isBusy = false;
      if (effects.length > 0) this.#carryOutAll(effects, nowMs);
    } catch (error) {
      this.#isBusy = false;
      this.#fail(error);
    }
    if (this.#later.length === 0) return;
    for (const later of this.#later.splice(0)) this.#on(later.event, later.nowMs);
  }

  /** Ends this client and no other. */
  #fail(error: unknown): void {
    if (error instanceof ProtocolError) this.#wire.close(error.message);
    else {
      this.#world.observe({ kind: "error", error });
      this.#wire.close("an error of the gateway");
    }
  }

  #carryOutAll(effects: readonly RelayEffect[], nowMs: number): void {
    const { outboundHighBytes } = this.#world.facts.limits;
    let answerBytes = 0;
    let hasSent = false;
    let hasPassed = false;
    for (const effect of effects) {
      if (effect.kind === "toUpstream") {
        this.#link?.write(effect.bytes);
        hasPassed = true;
      } else if (effect.kind === "toClient") {
        const bytes = this.#wire.forward(effect.bytes);
        if (effect.isAnswer) answerBytes += bytes;
        hasSent = true;
      } else this.#carryOut(effect);
    }
    if (hasSent) {
      const { unreadBytes } = this.#wire;
      if (answerBytes > 0 || unreadBytes >= outboundHighBytes)
        this.#on({ kind: "written", answerBytes, unreadBytes }, nowMs);
    }
    if (hasPassed) {
      const unreadBytes = this.#link?.unreadBytes ?? 0;
      if (unreadBytes >= outboundHighBytes)
        this.#on({ kind: "upstreamWritten", unreadBytes }, nowMs);
    }
  }

  #carryOut(effect: Exclude<RelayEffect, { readonly kind: "toClient" | "toUpstream" }>): void {
    const { guard, watch, observe } = this.#world;
    switch (effect.kind) {
      case "dial":
        void this.#dial(effect.target);
        break;
      case "closeUpstream":
        this.#link?.close();
        this.#link = undefined;
        break;
      case "close":
        this.#wire.close(effect.reason);
        break;
      case "readingChanged":
        this.#wire.wake();
        break;
      case "upstreamReadingChanged":
        this.#updateLink();
        break;
      case "setFrameBytesMax":
        this.#wire.setFrameBytesMax(effect.bytes);
        if (this.#link !== undefined) this.#link.frameBytesMax = effect.bytes;
        break;
      case "waitingBytes":
        this.#countWaiting(effect.bytes);
        break;
      case "named":
        guard.name(effect.target);
        break;
      case "follow":
        void this.#follow(effect);
        break;
      case "opened":
        this.#reached = this.#target;
        if (this.#reached !== undefined) watch.onReached(this.#reached);
        break;
      case "upstreamLost":
        this.#lostBecause = effect.reason;
        break;
      case "topicMigrated":
        observe({
          kind: "topic-migrated",
          topic: plainText(effect.topic),
          url: plainText(effect.url),
        });
        break;
    }
  }

  #countWaiting(bytes: number): void {
    const { memory } = this.#world;
    memory.reserve("partial-frame", bytes);
    memory.release("partial-frame", this.#waitingBytes);
    this.#waitingBytes = bytes;
  }

  async #call<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#calling ??= new AbortController();
    this.#callCount++;
    try {
      return await call(this.#calling.signal);
    } finally {
      if (--this.#callCount === 0) this.#calling = undefined;
    }
  }

  async #dial(target: Target | undefined): Promise<void> {
    const dialed = await this.#call((signal) => this.#calls.dial(target, signal));
    if (dialed === undefined) return;
    if (this.#isEnded) {
      // The client left after the broker had accepted: nothing else would close this socket.
      if ("socket" in dialed) dialed.socket.on("error", () => {}).destroy();
      return;
    }
    if ("reason" in dialed)
      this.#on({ kind: "upstreamFailed", reason: dialed.reason }, this.#world.clock.now());
    else this.#attach(dialed);
  }

  #attach({ socket, target, names }: DialedBroker): void {
    const { facts, clock } = this.#world;
    this.#target = target;
    this.#link = new UpstreamLink(socket, this.#world, facts.limits.greetingBytesMax, {
      onReadable: () => this.#onReadable(),
      onTaken: () => {
        const unreadBytes = this.#link?.unreadBytes ?? 0;
        this.#on({ kind: "upstreamTaken", unreadBytes }, clock.now());
      },
      onClosed: (reason) => this.#on({ kind: "upstreamClosed", reason }, clock.now()),
    });
    this.#on({ kind: "upstreamConnected", names }, clock.now());
    // The relay's next alarm may be an earlier one now.
    this.#wire.wake();
  }

  #onReadable(): void {
    const wasWaiting = this.#hasFrames;
    this.#hasFrames = true;
    if (wasWaiting) return;
    this.#readLink(FRAMES_AT_ONCE, this.#world.clock.now());
    if (this.hasWork) this.#wire.wake();
  }

  /** Hands frames of the broker to the relay. */
  #readLink(framesMax: number, nowMs: number): void {
    try {
      for (let frames = 0; frames < framesMax && this.#mayReadLink; frames++) {
        const frame = this.#link?.next();
        if (frame === undefined) {
          this.#hasFrames = false;
          const isWithinFrame = this.#link?.isWithinFrame ?? false;
          this.#on({ kind: "upstreamDrained", isWithinFrame }, nowMs);
          break;
        }
        this.#large.onFrame(frame.bytes.length);
        this.#on({ kind: "upstreamFrame", frame }, nowMs);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#on({ kind: "upstreamClosed", reason: error.message }, nowMs);
    }
    this.#link?.count();
    this.#world.relieve();
    this.#setReading();
  }

  #setReading(): void {
    const link = this.#link;
    if (link === undefined) return;
    const { outboundLowBytes } = this.#world.facts.limits;
    const hasTaken = this.#wire.unreadBytes <= outboundLowBytes;
    const hasRoom = this.#large.update(link.announcedBytes, hasTaken);
    link.setReading(!this.#hasFrames && this.#mayReadLink && hasRoom);
    if (this.#large.dueAtMs < this.#relay.dueAtMs) this.#wire.wake();
  }

  get #mayReadLink(): boolean {
    if (this.#link === undefined || !this.#relay.isReadingUpstream) return false;
    const isCrowded =
      this.#world.memory.isDeliveryExhausted && this.#wire.unreadBytes > UNREAD_BYTES_SMALL;
    return !isCrowded || this.#link.isWithinFrame;
  }

  #updateLink(): void {
    if (this.hasWork) this.#wire.wake();
    this.#setReading();
  }

  async #follow(redirected: RedirectedLookup): Promise<void> {
    const answer = await this.#call((signal) => this.#calls.follow(redirected, signal));
    if (answer !== undefined) this.#on({ kind: "followed", answer }, this.#world.clock.now());
  }
}
