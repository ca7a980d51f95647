import { Ledger, MemberSession } from "@sluice/fleet/sim";
import type { LeaveRequest, LedgerState, SyncReply, SyncRequest } from "@sluice/fleet/sim";
import type { SluiceParts, StoreSteps } from "@sluice/lab/sim";

type Entry = NonNullable<ReturnType<LedgerState["entries"]["get"]>>;
type Told = Extract<SyncReply, { kind: "told" }>;

/** Where a rule of the ledger is undone: around its steps, never inside them. */
interface Undo {
  /** Before the ledger looks at its state. */
  readonly beforeOpen?: (state: LedgerState, wallMs: number) => void;
  /** After it has, before the sync. */
  readonly beforeSync?: (state: LedgerState) => void;
  readonly request?: (request: SyncRequest) => SyncRequest;
  readonly afterSync?: (state: LedgerState, entry: Entry, reply: Told) => Told;
  readonly hasOneRunId?: boolean;
}

/** The mechanisms of the protocol, each with the parts of a pool that lacks it. */
export const WITHOUT = {
  lease: { newSession: (...given) => new EndlessSession(...given) },
  acknowledgement: ledgerWith({
    afterSync: (state, entry, reply) => {
      promise(state, entry, { ...entry, promised: entry.told, promisedAtMs: entry.toldAtMs });
      return reply;
    },
  }),
  learning: ledgerWith({
    beforeSync: (state) => (state.learningUntilMs = 0),
    afterSync: (state, _entry, reply) => {
      state.learningUntilMs = 0;
      return reply;
    },
  }),
  "count check": ledgerWith({
    beforeOpen: (state) => {
      if (state.count !== state.entries.size) recount(state);
    },
  }),
  "run id": ledgerWith({ hasOneRunId: true }),
  "pool time": ledgerWith({
    beforeOpen: (state, wallMs) => {
      state.nowMs += wallMs - state.wallMs;
      state.wallMs = wallMs;
    },
  }),
  nonce: ledgerWith({ request: anonymous() }),
  sequence: ledgerWith({ request: renumbered() }),
  "dropping replies to superseded syncs": {
    newSession: (...given) => new CredulousSession(...given),
  },
  "pacing of what is asked back": ledgerWith({
    afterSync: (state, entry, reply) => {
      if (reply.told <= reply.fair) return reply;
      promise(state, entry, { ...entry, told: reply.fair, toldAtMs: state.nowMs });
      return { ...reply, told: reply.fair, isRenewed: true };
    },
  }),
  "use until the next send": { newSession: (...given) => new HastySession(...given) },
  "serving joiners in the order of their arrival": ledgerWith({
    beforeSync: (state) => (state.head = { atMs: -1e9, joinedAtMs: 0, need: 0 }),
  }),
  "not renewing what exceeds the fair share": ledgerWith({
    afterSync: (state, entry, reply) => {
      if (reply.isRenewed) return reply;
      promise(state, entry, { ...entry, promisedAtMs: state.nowMs, toldAtMs: state.nowMs });
      return { ...reply, isRenewed: true };
    },
  }),
} satisfies Readonly<Record<string, SluiceParts>>;

export type Mechanism = keyof typeof WITHOUT;

function ledgerWith(undo: Undo): SluiceParts {
  return { steps: (wallMs) => new LedgerSteps(wallMs, undo) };
}

/** A store with one pool, on the real ledger. Without ranks, levels and limits, which no test here needs. */
class LedgerSteps implements StoreSteps {
  readonly #wallMs: () => number;
  readonly #undo: Undo;
  #ledger = new Ledger();
  #run = 1;

  constructor(wallMs: () => number, undo: Undo) {
    this.#wallMs = () => Math.floor(wallMs());
    this.#undo = undo;
  }

  syncNow(given: SyncRequest): SyncReply {
    const undo = this.#undo;
    const request = undo.request?.(given) ?? given;
    const { member: id, timing } = request;
    const { state, isNew } = this.#open(timing);
    undo.beforeSync?.(state);
    const reply = this.#ledger.sync(state, isNew, timing, { ...request, id, about: "" });
    if (reply.kind !== "told") return reply;
    const more = { rank: undefined, saved: undefined, limits: undefined, limitsVersion: 0 };
    const told = { ...reply, ...more, storeMs: this.#wallMs(), hasRunId: true };
    const entry = state.entries.get(id);
    return entry === undefined ? told : (undo.afterSync?.(state, entry, told) ?? told);
  }

  leaveNow({ member, nonce, timing }: LeaveRequest): void {
    if (this.#ledger.state === undefined) return;
    this.#ledger.leave(this.#open(timing).state, member, nonce);
  }

  setLimits(): void {}

  forget(_pool: string, member?: string): void {
    if (member === undefined) this.#ledger = new Ledger();
    else this.#ledger.state?.entries.delete(member);
  }

  snapshot(): () => void {
    const saved = structuredClone(this.#ledger.state);
    return () => {
      this.#run++;
      this.#ledger = new Ledger();
      this.#ledger.state = structuredClone(saved);
    };
  }

  #open(timing: SyncRequest["timing"]): { state: LedgerState; isNew: boolean } {
    const wallMs = this.#wallMs();
    const { state } = this.#ledger;
    if (state !== undefined) this.#undo.beforeOpen?.(state, wallMs);
    const runId = this.#undo.hasOneRunId ? "1" : String(this.#run);
    return this.#ledger.open(wallMs, runId, timing);
  }
}

/** All processes look like one, and none of its syncs like an old one. */
function anonymous(): (request: SyncRequest) => SyncRequest {
  const renumber = renumbered();
  return (request) => ({ ...renumber(request), nonce: "0".repeat(16) });
}

/** Syncs count in the order of their arrival, so that none is late. */
function renumbered(): (request: SyncRequest) => SyncRequest {
  let arrived = 0;
  return (request) => ({ ...request, sequence: ++arrived });
}

function promise(
  state: LedgerState,
  entry: Entry,
  { promised, promisedAtMs, told, toldAtMs }: Entry,
): void {
  state.promised += promised - entry.promised;
  state.returning += promised - told - (entry.promised - entry.told);
  Object.assign(entry, { promised, promisedAtMs, told, toldAtMs });
}

function recount(state: LedgerState): void {
  const entries = [...state.entries.values()];
  const sum = (of: (entry: Entry) => number): number =>
    entries.reduce((total, entry) => total + of(entry), 0);
  state.count = entries.length;
  state.members = entries.filter(({ sequence }) => Number.isFinite(sequence)).length;
  state.promised = sum(({ promised }) => promised);
  state.returning = sum(({ promised, told }) => promised - told);
  state.lent = sum(({ lent }) => lent);
  state.extra = sum(({ extra }) => extra);
}

/** A member whose lease never ends. */
class EndlessSession extends MemberSession {
  readonly #timing: SyncRequest["timing"];

  constructor(...[identity, rules, at]: ConstructorParameters<typeof MemberSession>) {
    super(identity, { ...rules, timing: { ...rules.timing, leaseMs: 1e12 } }, at);
    this.#timing = rules.timing;
  }

  override onDue(...given: Parameters<MemberSession["onDue"]>): ReturnType<MemberSession["onDue"]> {
    const due = super.onDue(...given);
    return { ...due, send: due.send && { ...due.send, timing: this.#timing } };
  }

  override leave(...given: Parameters<MemberSession["leave"]>): LeaveRequest {
    return { ...super.leave(...given), timing: this.#timing };
  }
}

/** A member that believes every reply, however old. */
class CredulousSession extends MemberSession {
  readonly #sentAtMs = new Map<number, number>();

  override onDue(...given: Parameters<MemberSession["onDue"]>): ReturnType<MemberSession["onDue"]> {
    const due = super.onDue(...given);
    if (due.send !== undefined) this.#sentAtMs.set(due.send.sequence, given[0]);
    return due;
  }

  override onReply(
    ...[sequence, reply, nowMs]: Parameters<MemberSession["onReply"]>
  ): ReturnType<MemberSession["onReply"]> {
    if (this.isAwaiting(sequence)) return super.onReply(sequence, reply, nowMs);
    return this.membership.onReply(reply, this.#sentAtMs.get(sequence) ?? nowMs, nowMs);
  }
}

/** A member that stops using what is asked back as soon as it is asked, not with its next sync. */
class HastySession extends MemberSession {
  override onReply(
    ...given: Parameters<MemberSession["onReply"]>
  ): ReturnType<MemberSession["onReply"]> {
    const changes = super.onReply(...given);
    this.membership.onSend(given[2]);
    return changes;
  }
}
