import { PARTS } from "@sluice/fleet/sim";
import type { Entitlement, Timing } from "@sluice/fleet/sim";
import type { Host, Protocol, ProtocolMember } from "../protocol.ts";
import type { SimulatedStore } from "../simulated-store.ts";
import { DocumentStore } from "./document-store.ts";
import type { Verdict } from "./document-store.ts";

/**
 * The consensus of Numaflow's document "Distributed Throttling": processors report pool sizes, and
 * the store answers AGREE or DISAGREE. There is no lease, no demand and no limit that is set live.
 */
export class DocumentProtocol implements Protocol {
  readonly #store: SimulatedStore;
  readonly #steps: DocumentStore;
  readonly #syncIntervalMs: number;

  constructor(store: SimulatedStore, { staleMs, syncIntervalMs }: Timing) {
    this.#store = store;
    this.#steps = new DocumentStore(staleMs);
    this.#syncIntervalMs = syncIntervalMs;
  }

  join(host: Host): ProtocolMember {
    return new DocumentMember(host, this.#store, this.#steps, this.#syncIntervalMs);
  }

  flush(): void {
    this.#steps.clear();
  }

  lose(id: string): void {
    this.#steps.remove(id);
  }

  snapshot(): () => void {
    return this.#steps.snapshot();
  }

  setLimits(): void {
    // The document's limits are fixed when a processor starts.
  }
}

/** The document's section "On the Consumer": uses the larger size, and reports the one that it was told. */
class DocumentMember implements ProtocolMember {
  readonly isRefused = false;
  readonly #host: Host;
  readonly #store: SimulatedStore;
  readonly #steps: DocumentStore;
  readonly #syncIntervalMs: number;
  #dueAtMs: number;
  /** The pool size that it divides by; 0 before the first agreement, without which it may not start. */
  #used = 0;
  #reported: number | undefined;
  #entitlement: Entitlement | undefined;

  constructor(host: Host, store: SimulatedStore, steps: DocumentStore, syncIntervalMs: number) {
    this.#host = host;
    this.#store = store;
    this.#steps = steps;
    this.#syncIntervalMs = syncIntervalMs;
    this.#dueAtMs = host.nowMs;
  }

  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  get size(): number {
    return this.#used;
  }

  onDue(): void {
    const host = this.#host;
    if (host.nowMs < this.#dueAtMs) return;
    this.#dueAtMs = host.nowMs + this.#syncIntervalMs;
    const { id, wallMs } = host;
    const reported = this.#reported;
    this.#store.call(
      host.link,
      () => this.#steps.checkIn(id, reported, wallMs),
      (verdict) => host.whenRunning(() => this.#onVerdict(verdict)),
    );
  }

  leave(): void {
    this.#store.call(this.#host.link, () => this.#steps.remove(this.#host.id));
  }

  entitlementAt(): Entitlement | undefined {
    return this.#entitlement;
  }

  isPromisedAt(): boolean {
    return this.#used > 0;
  }

  hasArrivedAt(): boolean {
    return this.#used > 0;
  }

  isSettledAt(_nowMs: number, live: number): boolean {
    return this.#used === live;
  }

  #onVerdict({ kind, poolSize }: Verdict): void {
    const before = this.#used;
    if (kind === "AGREE") this.#used = poolSize;
    else if (before > 0) this.#used = Math.max(before, poolSize);
    if (this.#used !== before) this.#entitlement = { kind: "parts", parts: PARTS / this.#used };
    this.#reported = poolSize;
    this.#host.onReply({});
  }
}
