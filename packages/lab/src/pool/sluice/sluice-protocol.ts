import { MemberSession, MemoryStore, PARTS } from "@sluice/fleet/sim";
import type {
  Entitlement,
  LeaveRequest,
  MemberRules,
  SyncReply,
  SyncRequest,
} from "@sluice/fleet/sim";
import type { Random } from "@sluice/core";
import type { Host, Protocol, ProtocolMember } from "../protocol.ts";
import type { SimulatedStore } from "../simulated-store.ts";

const POOL = "pool";
/** No level is resumed after the last member has gone: a run begins at the level that it states. */
const RESUME_TTL_MS = 0;
/** From this part of its fair share on, a joiner has arrived. */
const ARRIVED = 0.9;
/** A share this near to the fair one, in parts of the ceiling, is right: demand moves a little at every sync. */
const NEAR = 0.01 * PARTS;

/** What the store executes: every call is one atomic step, done at once. */
export interface StoreSteps {
  syncNow(request: SyncRequest): SyncReply;
  leaveNow(request: LeaveRequest): void;
  setLimits(pool: string, text: string): unknown;
  forget(pool: string, member?: string): void;
  snapshot(): () => void;
}

/** Other parts in the place of the real ones, to see what happens without one of their rules. */
export interface SluiceParts {
  readonly steps?: (wallMs: () => number) => StoreSteps;
  readonly newSession?: (...given: ConstructorParameters<typeof MemberSession>) => MemberSession;
}

/** The protocol of this project: the real ledger of the store, and the real session of a member. */
export class SluiceProtocol implements Protocol {
  readonly #store: SimulatedStore;
  readonly #rules: MemberRules;
  readonly #steps: StoreSteps;
  readonly #newSession: NonNullable<SluiceParts["newSession"]>;

  constructor(store: SimulatedStore, rules: MemberRules, parts: SluiceParts = {}) {
    const wallMs = (): number => store.wallMs;
    this.#store = store;
    this.#rules = rules;
    this.#steps = parts.steps?.(wallMs) ?? new MemoryStore({ now: wallMs });
    this.#newSession = parts.newSession ?? ((...given) => new MemberSession(...given));
  }

  join(host: Host): ProtocolMember {
    const identity = { pool: POOL, member: host.id, nonce: nonceOf(host.random) };
    const session = this.#newSession(identity, this.#rules, {
      nowMs: host.nowMs,
      resumeTtlMs: RESUME_TTL_MS,
    });
    return new SluiceMember(session, host, this.#store, this.#steps);
  }

  flush(): void {
    this.#steps.forget(POOL);
  }

  lose(id: string): void {
    this.#steps.forget(POOL, id);
  }

  snapshot(): () => void {
    return this.#steps.snapshot();
  }

  setLimits(text: string): void {
    void this.#steps.setLimits(POOL, text);
  }
}

class SluiceMember implements ProtocolMember {
  readonly #session: MemberSession;
  readonly #host: Host;
  readonly #store: SimulatedStore;
  readonly #steps: StoreSteps;

  constructor(session: MemberSession, host: Host, store: SimulatedStore, steps: StoreSteps) {
    this.#session = session;
    this.#host = host;
    this.#store = store;
    this.#steps = steps;
  }

  get dueAtMs(): number {
    return this.#session.dueAtMs;
  }

  get isRefused(): boolean {
    return this.#session.membership.standing === "refused";
  }

  get size(): number {
    return this.#session.membership.size;
  }

  onDue(): void {
    const host = this.#host;
    const { send } = this.#session.onDue(host.nowMs, () => host.condition());
    if (send === undefined) return;
    this.#store.call(
      host.link,
      () => this.#steps.syncNow(send),
      (reply) => host.whenRunning(() => this.#onReply(send.sequence, reply)),
    );
  }

  leave(level: number | undefined): void {
    const request = this.#session.leave("redeploy", level);
    this.#store.call(this.#host.link, () => this.#steps.leaveNow(request));
  }

  entitlementAt(nowMs: number): Entitlement | undefined {
    return this.#session.membership.entitlementAt(nowMs);
  }

  isPromisedAt(nowMs: number): boolean {
    return this.#session.membership.isLeasedAt(nowMs);
  }

  hasArrivedAt(nowMs: number): boolean {
    const parts = this.#partsAt(nowMs);
    return parts > 0 && parts >= ARRIVED * this.#session.membership.fairParts;
  }

  isSettledAt(nowMs: number, live: number): boolean {
    const { membership } = this.#session;
    const isNear = Math.abs(this.#partsAt(nowMs) - membership.fairParts) <= NEAR;
    return membership.isLeasedAt(nowMs) && membership.size === live && isNear;
  }

  #onReply(sequence: number, reply: SyncReply): void {
    const { nowMs } = this.#host;
    const isCounted = this.#session.isAwaiting(sequence);
    this.#session.onReply(sequence, reply, nowMs);
    if (!isCounted || reply.kind !== "told") return this.#host.onReply({});
    const { storeMs, saved, limits, limitsVersion } = reply;
    this.#host.onReply({
      time: { storeMs, sentAtMs: this.#session.membership.syncedAtMs ?? nowMs },
      runningLevel: saved?.left === "running" ? saved.level : undefined,
      limits,
      limitsVersion,
    });
  }

  #partsAt(nowMs: number): number {
    const entitlement = this.entitlementAt(nowMs);
    if (entitlement === undefined) return 0;
    return entitlement.kind === "parts" ? entitlement.parts : PARTS / entitlement.seat.poolSize;
  }
}

function nonceOf(random: Random): string {
  return Math.floor(random.next() * 2 ** 32)
    .toString(16)
    .padStart(16, "0");
}
