import type { Reason } from "@sluice/core";
import { encodeFrame, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { Command, Frame, ThrottleCodec } from "@sluice/pulsar/wire";
import { plainText } from "../refusal/refusal.ts";
import type { Refusal } from "../refusal/refusal.ts";
import type { ReadGate } from "../session/connection/read-gate.ts";
import type { SessionLimits } from "../session/limits.ts";
import type { RelayOutbox } from "./effect.ts";
import type { SendFrame } from "./relay-commands.ts";

/**
 * Where clients are sent by lookups. `proxy`: to us again, with the broker's address in CONNECT; every
 * connection has the broker that serves its topics. `own-address`: to us, without the broker's address,
 * for clients that cannot send it; all of them get the broker of the service URL. `auto` is
 * `own-address` for clients known to need it, and else `proxy`.
 */
export type LookupStyle = "auto" | "proxy" | "own-address";

/** What does not change while the gateway runs. */
export interface RelayFacts {
  readonly limits: SessionLimits;
  readonly lookup: LookupStyle;
  /** Where clients reach us. */
  readonly serviceUrl: string | undefined;
  readonly serviceUrlTls: string | undefined;
  readonly isUpstreamTls: boolean;
  /** From CONNECT of the client to CONNECTED of the upstream. */
  readonly handshakeMs: number;
  /** What CONNECT tells the broker about us; nothing if undefined. */
  readonly proxyVersion: string | undefined;
  readonly throttle: ThrottleCodec;
  /** Whether clients are told that they may be sent throttle commands. */
  readonly hasNotices: boolean;
}

/** What keeps the frames of a client from being read. */
export type RelayObstacle =
  /** The upstream has not said CONNECTED. */
  | "upstream"
  /** The upstream does not take what it is sent. */
  | "upstream-full"
  /** A publish limit, pending SENDs or memory, as the event `throttled` says. */
  | Reason
  /** Commands of producers wait behind their held SENDs, as many as may. */
  | "behind-held"
  /** Lookups without an answer, as many as may. */
  | "requests"
  /** The client does not read the answers to its commands. */
  | "outbound"
  /** The client has sent `commandsPerSecond` commands in this second. */
  | "commands"
  /** The gateway is about to close. */
  | "closing";

/** A producer whose SENDs ask for admission. */
export interface AdmittedProducer {
  /** A number that one relay never uses twice. */
  readonly key: number;
  /** The client's id of the producer. */
  readonly id: bigint;
  /** As the client wrote it. */
  readonly topic: string;
  /** Empty if the broker is to choose it. */
  readonly name: string;
}

/**
 * Decides when a SEND may go upstream. Must not call the relay back at once: what it wants to say comes
 * as events.
 */
export interface Admission {
  /** The client may be told when to pause. Called before `open`. */
  setAware(): void;
  /** Why the producer cannot be opened; undefined if it can. */
  open(producer: AdmittedProducer): Refusal | undefined;
  /** True: now. False: the frame is held, and comes back by the event `released`. `messages`: how many it brings. */
  admit(producer: AdmittedProducer, frame: SendFrame, messages: number, nowMs: number): boolean;
  /** A SEND that went has its receipt, or never will. */
  settled(nowMs: number): void;
  /** The client has answered a notice. */
  noticed(requestId: bigint, nowMs: number): void;
  /** The producer is gone: its held SENDs are forgotten. */
  drop(producer: AdmittedProducer, nowMs: number): void;
}

/** A consumer that subscribes. */
export interface SubscribingConsumer {
  /** A number that one relay never uses twice. */
  readonly key: number;
  /** The client's id of the consumer. */
  readonly id: bigint;
  readonly name: string;
  /** As the client wrote it. */
  readonly topic: string;
  readonly subscription: string;
}

/**
 * Decides who may subscribe, and how many permits of a consumer go upstream. Must not call the relay back
 * at once: permits come by the event `permitted`.
 */
export interface DeliveryAdmission {
  /** Why the consumer may not subscribe now; else whether its permits are limited. */
  subscribe(consumer: SubscribingConsumer, nowMs: number): Refusal | "limited" | "unlimited";
  /** A FLOW of a limited consumer. */
  flow(consumer: number, permits: number, nowMs: number): void;
  /** A MESSAGE goes to a limited consumer. */
  delivered(consumer: number, messages: number, bytes: number, nowMs: number): void;
  /** A limited consumer is gone. */
  drop(consumer: number, nowMs: number): void;
}

/** What the parts of a relay share. */
export interface RelayContext {
  readonly facts: RelayFacts;
  readonly outbox: RelayOutbox;
  readonly gate: ReadGate<RelayObstacle>;
  readonly admission: Admission;
  readonly deliveries: DeliveryAdmission;
  nextKey(): number;
}

/** Sends the client a command that was made here. */
export function answer({ outbox }: RelayContext, command: Command): void {
  outbox.add({ kind: "toClient", bytes: encodeFrame(command), isAnswer: true });
}

export function refuse(context: RelayContext, requestId: bigint, refusal: Refusal): void {
  const message = plainText(refusal.message);
  answer(context, {
    kind: "error",
    body: { requestId, error: SERVER_ERROR[refusal.error], message },
  });
}

/** Sends the client a frame of the upstream as it came. */
export function forward({ outbox }: RelayContext, { bytes }: Pick<Frame, "bytes">): void {
  outbox.add({ kind: "toClient", bytes, isAnswer: false });
}

/** Sends the upstream a frame of the client as it came. */
export function pass({ outbox }: RelayContext, { bytes }: Pick<Frame, "bytes">): void {
  outbox.add({ kind: "toUpstream", bytes });
}
