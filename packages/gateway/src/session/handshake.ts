import { PROTOCOL_VERSION } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import type { Outbox } from "./effect.ts";
import { frameBytesMax } from "./limits.ts";
import type { SessionLimits } from "./limits.ts";
import type { ReadGate } from "./read-gate.ts";
import { NO_REQUEST, refuse } from "./reply.ts";
import type { Refusal } from "./refusal.ts";

/** What a session says of its broker. */
export interface SessionFacts {
  readonly limits: SessionLimits;
  /** Whether clients must show a token. */
  readonly needsToken: boolean;
  /** Where clients find the topics, which is here. Two if there are both kinds of listeners. */
  readonly serviceUrl: string | undefined;
  readonly serviceUrlTls: string | undefined;
}

/** Who a client has proved to be. */
export interface Proof {
  readonly role: string;
  /** After that it must be proved again; undefined if never. */
  readonly expiresInMs: number | undefined;
}

const SERVER_VERSION = "sluice";
const TOKEN_METHOD = "token";
/** What Pulsar's own brokers say when they want a fresh token; clients look for it. */
const REFRESH = Buffer.from("PulsarAuthRefresh");
const REFRESH_LEAD_MIN_MS = 1_000;
const REFRESH_LEAD_MAX_MS = 30_000;

/** From the first byte to CONNECTED, and for as long as a token lasts. */
export class Handshake {
  readonly #outbox: Outbox;
  readonly #gate: ReadGate;
  readonly #facts: SessionFacts;
  readonly #greetBeforeMs: number;
  #state: "greeting" | "checking" | "open" = "greeting";
  #protocolVersion = 0;
  #canRefresh = false;
  #role: string | undefined;
  #isChallenged = false;
  #challengeAtMs = Infinity;
  #expiresAtMs = Infinity;

  constructor(
    { outbox, gate }: { readonly outbox: Outbox; readonly gate: ReadGate },
    facts: SessionFacts,
    nowMs: number,
  ) {
    this.#outbox = outbox;
    this.#gate = gate;
    this.#facts = facts;
    this.#greetBeforeMs = nowMs + facts.limits.greetingMs;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Who the client is; undefined if nobody asked, or before it has said so. */
  get role(): string | undefined {
    return this.#role;
  }

  connect(connect: CommandBodies["connect"]): void {
    if (this.#state !== "greeting") {
      this.#fail({ error: "NotAllowedError", message: "a second CONNECT" });
      return;
    }
    // Not kept as a whole: it has the token.
    this.#protocolVersion = connect.protocolVersion ?? 0;
    this.#canRefresh = connect.featureFlags?.supportsAuthRefresh ?? false;
    const refusal = this.#flaw(connect);
    if (refusal !== undefined) this.#fail(refusal);
    else if (this.#facts.needsToken) this.#check(connect.authData ?? new Uint8Array());
    else this.#welcome();
  }

  /** The answer to a challenge, which only comes after CONNECTED. */
  authResponse({ response }: CommandBodies["authResponse"]): void {
    if (!this.#isChallenged) {
      this.#fail({ error: "NotAllowedError", message: "an AUTH_RESPONSE that nobody asked for" });
      return;
    }
    this.#isChallenged = false;
    if (response?.authMethodName !== undefined && response.authMethodName !== TOKEN_METHOD)
      this.#fail(unknownMethod(response.authMethodName));
    else this.#check(response?.authData ?? new Uint8Array());
  }

  authenticated({ role, expiresInMs }: Proof, nowMs: number): void {
    if (this.#role !== undefined && this.#role !== role) {
      this.#fail({ error: "AuthenticationError", message: "the new token is somebody else's" });
      return;
    }
    const isRefresh = this.#role !== undefined;
    this.#role = role;
    this.#planRefresh(expiresInMs, isRefresh, nowMs);
    this.#gate.unblock("greeting");
    if (!isRefresh) this.#welcome();
  }

  authenticationFailed(message: string): void {
    this.#fail({ error: "AuthenticationError", message });
  }

  tick(nowMs: number): void {
    if (this.#state !== "open") {
      if (nowMs >= this.#greetBeforeMs) this.#close("no CONNECT in time");
      return;
    }
    if (nowMs >= this.#expiresAtMs) {
      this.#fail({ error: "AuthenticationError", message: "the token has expired" });
    } else if (nowMs >= this.#challengeAtMs) {
      this.#challengeAtMs = Infinity;
      this.#challenge();
    }
  }

  #flaw({ proxyToBrokerUrl, authMethodName = "" }: CommandBodies["connect"]): Refusal | undefined {
    // No client chooses whom we connect to.
    if (proxyToBrokerUrl !== undefined && !this.#isOurs(proxyToBrokerUrl))
      return { error: "ServiceNotReady", message: "this is no proxy" };
    if (!this.#facts.needsToken) return undefined;
    return authMethodName === TOKEN_METHOD ? undefined : unknownMethod(authMethodName);
  }

  #isOurs(target: string): boolean {
    const { serviceUrl, serviceUrlTls } = this.#facts;
    return [serviceUrl, serviceUrlTls].some((url) => url?.replace(/^[^:]+:\/\//, "") === target);
  }

  #check(credentials: Uint8Array): void {
    if (this.#state === "greeting") {
      this.#state = "checking";
      this.#gate.block("greeting");
    }
    this.#outbox.add({ kind: "authenticate", credentials });
  }

  #welcome(): void {
    const { limits, needsToken } = this.#facts;
    this.#state = "open";
    this.#outbox.add({ kind: "setFrameBytesMax", bytes: frameBytesMax(limits) });
    this.#outbox.send({
      kind: "connected",
      body: {
        serverVersion: SERVER_VERSION,
        protocolVersion: Math.min(PROTOCOL_VERSION, Math.max(0, this.#protocolVersion)),
        maxMessageSize: limits.messageBytesMax,
        featureFlags: {
          supportsAuthRefresh: needsToken,
          supportsGetPartitionedMetadataWithoutAutoCreation: true,
        },
      },
    });
  }

  /** A fresh token is asked for a little before the old one ends, of clients that can be asked. */
  #planRefresh(expiresInMs: number | undefined, isRefresh: boolean, nowMs: number): void {
    this.#challengeAtMs = Infinity;
    this.#expiresAtMs = expiresInMs === undefined ? Infinity : nowMs + expiresInMs;
    if (expiresInMs === undefined || !this.#canRefresh) return;
    // A client that answers with what it had is not asked again and again.
    if (isRefresh && expiresInMs <= REFRESH_LEAD_MIN_MS) return;
    const leadMs = Math.min(REFRESH_LEAD_MAX_MS, Math.max(REFRESH_LEAD_MIN_MS, expiresInMs / 10));
    this.#challengeAtMs = this.#expiresAtMs - leadMs;
  }

  #challenge(): void {
    this.#isChallenged = true;
    this.#outbox.send({
      kind: "authChallenge",
      body: {
        serverVersion: SERVER_VERSION,
        challenge: { authMethodName: TOKEN_METHOD, authData: REFRESH },
        protocolVersion: PROTOCOL_VERSION,
      },
    });
  }

  #fail(refusal: Refusal): void {
    refuse(this.#outbox, NO_REQUEST, refusal);
    this.#close(refusal.message);
  }

  #close(reason: string): void {
    this.#outbox.add({ kind: "close", reason });
  }
}

function unknownMethod(name: string): Refusal {
  const message = `authentication by "${name}" is not possible, only by "${TOKEN_METHOD}"`;
  return { error: "AuthenticationError", message };
}
