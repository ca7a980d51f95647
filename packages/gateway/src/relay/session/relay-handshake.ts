import { encodeFrame, FRAME_PADDING_BYTES, MESSAGE_BYTES_MAX, NO_ID } from "@sluice/pulsar/wire";
import type { Command, CommandBodies } from "@sluice/pulsar/wire";
import { MESSAGE_BYTES_CEILING } from "../../ingress/limits/largest-frame.ts";
import { plainText } from "../../refusal/refusal.ts";
import { decodeClientFrame } from "../relay-commands.ts";
import type { BrokerFrame, ClientFrame } from "../relay-commands.ts";
import { forward, pass, refuse } from "../relay-context.ts";
import type { RelayContext } from "../relay-context.ts";
import { parseTarget } from "../target.ts";

/** How pulsar-flex calls itself. It connects to the address in a lookup's answer, and to nothing else. */
const IGNORES_PROXY = /^pulsar-flex/i;

/**
 * From the client's CONNECT to the upstream's CONNECTED. Credentials are passed through as they are: the
 * broker checks them, and may challenge the client at any time.
 */
export class RelayHandshake {
  readonly #context: RelayContext;
  #state: "greeting" | "dialing" | "connecting" | "open" = "greeting";
  #dueAtMs: number;
  #connect: Buffer = NOTHING;
  #isOwnAddress = false;
  #knowsThrottle = false;

  constructor(context: RelayContext, nowMs: number) {
    this.#context = context;
    this.#dueAtMs = nowMs + context.facts.limits.greetingMs;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** When the handshake has taken too long. */
  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  /** The client's CONNECT as the broker gets it, with the credentials that the client has sent last. */
  get connect(): Buffer {
    return this.#connect;
  }

  /** Whether lookups are answered with our own address alone. */
  get isOwnAddress(): boolean {
    return this.#isOwnAddress;
  }

  /** Whether the client may be sent throttle commands. */
  get knowsThrottle(): boolean {
    return this.#knowsThrottle;
  }

  /** A frame of a client that was not let in yet. */
  onClientFrame(frame: ClientFrame, nowMs: number): void {
    const { outbox, gate } = this.#context;
    const { command } = frame;
    if (command.kind === "connect" && this.#state === "greeting")
      this.#onConnect(frame, command.body, nowMs);
    else if (command.kind === "authResponse" && this.#state === "connecting") {
      gate.block("upstream");
      this.onAuthResponse(command.body);
      pass(this.#context, frame);
    } else outbox.close(`${nameOf(command)} before CONNECTED`);
  }

  /**
   * Connections for redirected lookups are made for as long as the client is connected; its first token may
   * have expired by then. A step of SASL is no credential to begin with.
   */
  onAuthResponse({ response }: CommandBodies["authResponse"]): void {
    const { command } = decodeClientFrame(this.#connect);
    if (command.kind !== "connect" || response?.authData === undefined) return;
    const { authData, authMethodName = command.body.authMethodName } = response;
    if (authMethodName === "sasl") return;
    const body = { ...command.body, authMethodName, authData };
    this.#connect = encodeFrame({ kind: "connect", body });
  }

  onUpstreamConnected(): void {
    if (this.#state !== "dialing") return;
    this.#state = "connecting";
    this.#context.outbox.add({ kind: "toUpstream", bytes: this.#connect });
  }

  onUpstreamFailed(reason: string): void {
    const message = plainText(reason);
    refuse(this.#context, NO_ID, { error: "ServiceNotReady", message });
    this.#context.outbox.close(message);
  }

  /** A frame of an upstream that has not said CONNECTED yet. */
  onUpstreamFrame(frame: BrokerFrame): void {
    const { outbox, gate } = this.#context;
    const { command } = frame;
    if (command.kind === "connected") this.#welcome(frame, command.body);
    else if (command.kind === "authChallenge") {
      forward(this.#context, frame);
      // For the answer; the client sends nothing else before CONNECTED.
      gate.unblock("upstream");
    } else if (command.kind === "error") {
      forward(this.#context, frame);
      outbox.close(`the broker refused it: ${plainText(command.body.message)}`);
    } else outbox.close(`the broker sent ${nameOf(command)} before CONNECTED`);
  }

  tick(nowMs: number): void {
    if (nowMs < this.#dueAtMs) return;
    const { outbox, facts } = this.#context;
    if (this.#state === "greeting") outbox.close("no CONNECT in time");
    else this.onUpstreamFailed(`the broker gave no answer in ${facts.handshakeMs} ms; try again`);
  }

  #onConnect(frame: ClientFrame, connect: CommandBodies["connect"], nowMs: number): void {
    const { facts, outbox, gate } = this.#context;
    const { proxyToBrokerUrl, clientVersion, featureFlags } = connect;
    this.#isOwnAddress =
      facts.lookup === "own-address" ||
      (facts.lookup === "auto" && IGNORES_PROXY.test(clientVersion));
    this.#knowsThrottle = facts.hasNotices && facts.throttle.isAnnouncedIn(featureFlags);
    const target = proxyToBrokerUrl === undefined ? undefined : parseTarget(proxyToBrokerUrl);
    if (proxyToBrokerUrl !== undefined && target === undefined) {
      this.onUpstreamFailed("proxyToBrokerUrl is no address; it must be like host:6650");
      return;
    }
    this.#connect = this.#connectFor(frame, connect);
    this.#state = "dialing";
    this.#dueAtMs = nowMs + facts.handshakeMs;
    gate.block("upstream");
    outbox.add({ kind: "dial", target });
  }

  /** Without what is only for us. Most clients' CONNECT stays as it is. */
  #connectFor({ bytes }: ClientFrame, connect: CommandBodies["connect"]): Buffer {
    const { throttle, proxyVersion } = this.#context.facts;
    const { proxyToBrokerUrl, featureFlags } = connect;
    const isAnnounced = throttle.isAnnouncedIn(featureFlags);
    if (proxyToBrokerUrl === undefined && !isAnnounced && proxyVersion === undefined) return bytes;
    const body = {
      ...connect,
      proxyToBrokerUrl: undefined,
      featureFlags: featureFlags && throttle.withoutFlag(featureFlags),
      ...(proxyVersion !== undefined && { proxyVersion }),
    };
    return encodeFrame({ kind: "connect", body });
  }

  #welcome(frame: BrokerFrame, connected: CommandBodies["connected"]): void {
    const { outbox, gate } = this.#context;
    const messageBytesMax = connected.maxMessageSize ?? MESSAGE_BYTES_MAX;
    const bounded =
      messageBytesMax > 0
        ? Math.min(messageBytesMax, MESSAGE_BYTES_CEILING)
        : MESSAGE_BYTES_CEILING;
    this.#state = "open";
    this.#dueAtMs = Infinity;
    outbox.add({ kind: "setFrameBytesMax", bytes: bounded + FRAME_PADDING_BYTES });
    outbox.add({ kind: "toClient", bytes: this.#connectedFor(frame, connected), isAnswer: false });
    outbox.add({ kind: "opened" });
    gate.unblock("upstream");
    if (this.#knowsThrottle) this.#context.admission.setAware();
  }

  /** With our flag if the client knows it, and without an upstream's own, whose throttle commands the relay drops. */
  #connectedFor({ bytes }: BrokerFrame, connected: CommandBodies["connected"]): Buffer {
    const { throttle } = this.#context.facts;
    const { featureFlags = {} } = connected;
    if (!this.#knowsThrottle && !throttle.isAnnouncedIn(featureFlags)) return bytes;
    const without = throttle.withoutFlag(featureFlags);
    const flags = this.#knowsThrottle ? throttle.announceIn(without) : without;
    return encodeFrame({ kind: "connected", body: { ...connected, featureFlags: flags } });
  }
}

const NOTHING = Buffer.alloc(0);

function nameOf(command: Command): string {
  return command.kind === "unknown" ? `a command of type ${command.type}` : command.kind;
}
