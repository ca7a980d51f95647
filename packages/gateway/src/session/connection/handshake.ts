import { PROTOCOL_VERSION } from "@sluice/pulsar/wire";
import type { CommandBodies, FeatureFlags } from "@sluice/pulsar/wire";
import { plainText } from "../../refusal/refusal.ts";
import type { Refusal } from "../../refusal/refusal.ts";
import { frameBytesMax } from "../limits.ts";
import { NO_REQUEST, refuse } from "../request/reply.ts";
import type { SessionContext } from "../session-context.ts";

const SERVER_VERSION = "sluice";
/** What Pulsar's own brokers send to ask for fresh credentials; clients look for it. */
const REFRESH = Buffer.from("PulsarAuthRefresh");
const REFRESH_LEAD_MIN_MS = 1_000;
const REFRESH_LEAD_MAX_MS = 30_000;

/** From the first byte to CONNECTED, and for as long as the credentials last. */
export class Handshake {
  readonly #context: SessionContext;
  readonly #greetBeforeMs: number;
  #state: "greeting" | "checking" | "open" = "greeting";
  #protocolVersion = 0;
  #canRefresh = false;
  #authMethod = "";
  #clientVersion = "";
  #isThrottleAware = false;
  #role: string | undefined;
  #isChallenged = false;
  #challengeAtMs = Infinity;
  #expiresAtMs = Infinity;

  constructor(context: SessionContext, nowMs: number) {
    this.#context = context;
    this.#greetBeforeMs = nowMs + context.facts.limits.greetingMs;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Who the client is; undefined without authentication, and before it. */
  get role(): string | undefined {
    return this.#role;
  }

  /** What the client calls itself, such as "Pulsar Go 0.21"; empty before CONNECT. */
  get clientVersion(): string {
    return this.#clientVersion;
  }

  /** Whether both sides know the throttle commands. */
  get isThrottleAware(): boolean {
    return this.#isThrottleAware;
  }

  connect(connect: CommandBodies["connect"]): void {
    if (this.#state !== "greeting") {
      this.#fail({ error: "NotAllowedError", message: "a second CONNECT" });
      return;
    }
    // Not kept as a whole: it has the credentials.
    this.#protocolVersion = connect.protocolVersion ?? 0;
    this.#canRefresh = connect.featureFlags?.supportsAuthRefresh ?? false;
    this.#isThrottleAware =
      this.#context.facts.throttle?.isAnnouncedIn(connect.featureFlags) ?? false;
    this.#authMethod = connect.authMethodName ?? "";
    this.#clientVersion = plainText(connect.clientVersion);
    const refusal = this.#flaw(connect);
    if (refusal !== undefined) this.#fail(refusal);
    else if (this.#needsAuthentication) this.#check(connect.authData ?? new Uint8Array());
    else this.#welcome();
  }

  /** The answer to a challenge, which only comes after CONNECTED. */
  authResponse({ response }: CommandBodies["authResponse"]): void {
    if (!this.#isChallenged) {
      this.#fail({ error: "NotAllowedError", message: "AUTH_RESPONSE without AUTH_CHALLENGE" });
      return;
    }
    this.#isChallenged = false;
    if (response?.authMethodName !== undefined && response.authMethodName !== this.#authMethod)
      this.#fail(this.#unknownMethod(response.authMethodName));
    else this.#check(response?.authData ?? new Uint8Array());
  }

  authenticated(role: string, expiresInMs: number | undefined, nowMs: number): void {
    if (this.#role !== undefined && this.#role !== role) {
      this.#fail({
        error: "AuthenticationError",
        message: "the new credentials have another role",
      });
      return;
    }
    const isRefresh = this.#role !== undefined;
    this.#role = role;
    this.#planRefresh(expiresInMs, isRefresh, nowMs);
    this.#context.gate.unblock("authentication");
    if (!isRefresh) this.#welcome();
  }

  authenticationFailed(message: string): void {
    this.#fail({ error: "AuthenticationError", message });
  }

  get dueAtMs(): number {
    if (this.#state !== "open") return this.#greetBeforeMs;
    return Math.min(this.#challengeAtMs, this.#expiresAtMs);
  }

  tick(nowMs: number): void {
    if (nowMs < this.dueAtMs) return;
    if (this.#state !== "open") this.#context.outbox.close("no CONNECT in time");
    else if (nowMs >= this.#expiresAtMs)
      this.#fail({ error: "AuthenticationError", message: "the token has expired" });
    else {
      this.#challengeAtMs = Infinity;
      this.#challenge();
    }
  }

  get #needsAuthentication(): boolean {
    return this.#context.facts.authMethods.length > 0;
  }

  #flaw({ proxyToBrokerUrl, authMethodName = "" }: CommandBodies["connect"]): Refusal | undefined {
    // A client must not choose which address the broker connects to.
    if (proxyToBrokerUrl !== undefined && !this.#isOurs(proxyToBrokerUrl))
      return {
        error: "ServiceNotReady",
        message: "this broker is no proxy; connect to it without proxyToBrokerUrl",
      };
    const { authMethods } = this.#context.facts;
    if (authMethods.length === 0 || authMethods.includes(authMethodName)) return undefined;
    return this.#unknownMethod(authMethodName);
  }

  #isOurs(target: string): boolean {
    const { serviceUrl, serviceUrlTls } = this.#context.facts;
    return [serviceUrl, serviceUrlTls].some((url) => url?.replace(/^[^:]+:\/\//, "") === target);
  }

  #check(credentials: Uint8Array): void {
    if (this.#state === "greeting") {
      this.#state = "checking";
      this.#context.gate.block("authentication");
    }
    this.#context.outbox.add({ kind: "authenticate", credentials });
  }

  #welcome(): void {
    const { limits, throttle } = this.#context.facts;
    const flags: FeatureFlags = {
      supportsAuthRefresh: this.#needsAuthentication,
      supportsGetPartitionedMetadataWithoutAutoCreation: true,
    };
    this.#state = "open";
    this.#context.outbox.add({ kind: "setFrameBytesMax", bytes: frameBytesMax(limits) });
    this.#context.outbox.send({
      kind: "connected",
      body: {
        serverVersion: SERVER_VERSION,
        protocolVersion: Math.min(PROTOCOL_VERSION, Math.max(0, this.#protocolVersion)),
        maxMessageSize: limits.messageBytesMax,
        // Clients skip flags that they do not know.
        featureFlags: throttle?.announceIn(flags) ?? flags,
      },
    });
    if (this.#isThrottleAware) this.#context.outbox.add({ kind: "throttleAware" });
  }

  /** Clients that can be asked are asked for a fresh token a little before the old one ends. */
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
    this.#context.outbox.send({
      kind: "authChallenge",
      body: {
        serverVersion: SERVER_VERSION,
        challenge: { authMethodName: this.#authMethod, authData: REFRESH },
        protocolVersion: PROTOCOL_VERSION,
      },
    });
  }

  #fail(refusal: Refusal): void {
    const { outbox } = this.#context;
    refuse(outbox, NO_REQUEST, refusal);
    if (refusal.error === "AuthenticationError")
      outbox.add({ kind: "refused", reason: refusal.message });
    outbox.close(refusal.message);
  }

  #unknownMethod(name: string): Refusal {
    const known = this.#context.facts.authMethods.join(" or ");
    const message =
      name === ""
        ? `authentication is required, by ${known}`
        : `authentication by "${name}" is not possible, only by ${known}`;
    return { error: "AuthenticationError", message };
  }
}
