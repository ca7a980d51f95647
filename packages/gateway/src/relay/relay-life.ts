import { encodeFrame } from "@sluice/pulsar/wire";
import { KeepAlive } from "../session/connection/keep-alive.ts";
import { OutboundWatch } from "../session/connection/outbound-watch.ts";
import { answer } from "./relay-context.ts";
import type { RelayContext } from "./relay-context.ts";

/**
 * Whether both sides of a relay are alive and take what they are sent. A side that does not read stops the
 * reading of the other side. Both can be stopped at the same time only while neither takes a byte, and
 * each of them is given up after `unwritableMs`, so that there is no deadlock.
 */
export class RelayLife {
  readonly #context: RelayContext;
  readonly #client: KeepAlive;
  readonly #toClient: OutboundWatch;
  readonly #toUpstream: OutboundWatch;
  /** Undefined until there is a connection to a broker. */
  #upstream: KeepAlive | undefined;
  #isReadingUpstream = true;

  constructor(context: RelayContext, nowMs: number) {
    const { limits } = context.facts;
    this.#context = context;
    this.#client = new KeepAlive(limits, nowMs);
    this.#toClient = new OutboundWatch(limits);
    this.#toUpstream = new OutboundWatch(limits);
  }

  /** Whether the client takes what the upstream sends. */
  get isReadingUpstream(): boolean {
    return this.#isReadingUpstream;
  }

  get dueAtMs(): number {
    return Math.min(
      this.#client.dueAtMs,
      this.#upstream?.dueAtMs ?? Infinity,
      this.#toClient.dueAtMs,
      this.#toUpstream.dueAtMs,
    );
  }

  onUpstreamConnected(nowMs: number): void {
    this.#upstream = new KeepAlive(this.#context.facts.limits, nowMs);
  }

  onClientFrame(nowMs: number): void {
    this.#client.onFrame(nowMs);
  }

  onUpstreamFrame(nowMs: number): void {
    this.#upstream?.onFrame(nowMs);
  }

  onDrained(isWithinFrame: boolean, nowMs: number): void {
    this.#client.onDrained(isWithinFrame, nowMs);
  }

  onUpstreamDrained(isWithinFrame: boolean, nowMs: number): void {
    this.#upstream?.onDrained(isWithinFrame, nowMs);
  }

  /** The client is read from now on, or not. */
  onReadingChanged(isReading: boolean, nowMs: number): void {
    this.#client.onReadingChanged(isReading, nowMs);
  }

  onWritten(answerBytes: number, unreadBytes: number, nowMs: number): void {
    const { outbox, gate } = this.#context;
    const change = this.#toClient.onWritten(answerBytes, unreadBytes, nowMs);
    if (change === "full") this.#setReadingUpstream(false, nowMs);
    if (change === "deaf") gate.block("outbound");
    if (change === "tooMuch") outbox.close("the client does not read the answers it asks for");
  }

  onTaken(unreadBytes: number, nowMs: number): void {
    if (this.#toClient.onTaken(unreadBytes, nowMs) !== "free") return;
    this.#context.gate.unblock("outbound");
    this.#setReadingUpstream(true, nowMs);
  }

  onUpstreamWritten(unreadBytes: number, nowMs: number): void {
    const change = this.#toUpstream.onWritten(0, unreadBytes, nowMs);
    if (change === "full") this.#context.gate.block("upstream-full");
  }

  onUpstreamTaken(unreadBytes: number, nowMs: number): void {
    const change = this.#toUpstream.onTaken(unreadBytes, nowMs);
    if (change === "free") this.#context.gate.unblock("upstream-full");
  }

  /** Asks both sides for a sign of life if it is time. Answers why the upstream is gone, if it is. */
  tick(isOpen: boolean, nowMs: number): string | undefined {
    const { outbox, facts } = this.#context;
    const { unwritableMs } = facts.limits;
    const client = this.#client.due(nowMs);
    if (typeof client === "object") outbox.close(client.closeBecause);
    else if (client === "ping" && isOpen) answer(this.#context, PING);
    if (nowMs >= this.#toClient.dueAtMs)
      outbox.close(`the client took no byte in ${unwritableMs} ms`);
    const upstream = this.#upstream?.due(nowMs) ?? "nothing";
    if (typeof upstream === "object") return `the broker is silent: ${upstream.closeBecause}`;
    if (upstream === "ping" && isOpen) outbox.add({ kind: "toUpstream", bytes: encodeFrame(PING) });
    if (nowMs < this.#toUpstream.dueAtMs) return undefined;
    return `the broker took no byte in ${unwritableMs} ms`;
  }

  #setReadingUpstream(isReading: boolean, nowMs: number): void {
    this.#isReadingUpstream = isReading;
    this.#upstream?.onReadingChanged(isReading, nowMs);
    this.#context.outbox.add({ kind: "upstreamReadingChanged" });
  }
}

const PING = { kind: "ping", body: {} } as const;
