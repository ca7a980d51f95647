import type { Timer } from "@sluice/core";
import type { LeaveReason, PoolStore, SyncReply, SyncRequest } from "../store/pool-store.ts";
import { StoreError } from "../store/store-error.ts";
import { checkReply } from "./check-reply.ts";
import type { MembershipChange } from "./membership.ts";
import type { Condition, MemberSession } from "./session.ts";

/** What a sync loop asks and tells its owner. None of these may throw. */
export interface SyncLoopHost {
  /** What to say at the sync that is sent now; asked once for each. */
  condition(): Condition;
  /** A sync was answered, and the reply counted. */
  onReply(reply: SyncReply, sentAtMs: number, nowMs: number): void;
  /** A sync or the leave failed, a reply is late, or the store answered nonsense. */
  onFailure(error: unknown): void;
  onChanges(changes: readonly MembershipChange[]): void;
}

/** Runs a session against a store, in real or virtual time. It is started once and stopped once. */
export class SyncLoop {
  readonly #session: MemberSession;
  readonly #store: PoolStore;
  readonly #timer: Timer;
  readonly #host: SyncLoopHost;
  #isStopped = false;
  #asleep: AbortController | undefined;

  constructor(
    session: MemberSession,
    { store, timer }: { readonly store: PoolStore; readonly timer: Timer },
    host: SyncLoopHost,
  ) {
    this.#session = session;
    this.#store = store;
    this.#timer = timer;
    this.#host = host;
  }

  /** Syncs until it is stopped. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      // Made before the host is told anything: the host may stop the loop.
      const { signal } = (this.#asleep = new AbortController());
      this.#onDue(this.#timer.now());
      const sleepMs = Math.max(0, this.#session.dueAtMs - this.#timer.now());
      await this.#timer.sleep(sleepMs, signal).catch(() => {});
    }
  }

  /** Stops syncing and gives the share back. A store that does not answer in time is left alone. */
  async stop(reason: LeaveReason, level: number | undefined, timeoutMs: number): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#asleep?.abort();
    const left = this.#store.leave(this.#session.leave(reason, level));
    const patience = new AbortController();
    const late = this.#timer.sleep(timeoutMs, patience.signal).catch(() => {});
    await Promise.race([left.catch((error: unknown) => this.#host.onFailure(error)), late]);
    patience.abort();
  }

  #onDue(nowMs: number): void {
    if (nowMs < this.#session.dueAtMs) return;
    const { send, isLate, changes } = this.#session.onDue(nowMs, () => this.#host.condition());
    if (isLate) this.#host.onFailure(new StoreError("the store has not answered in time"));
    this.#tell(changes);
    if (send !== undefined && !this.#isStopped) void this.#sync(send, nowMs);
  }

  async #sync(request: SyncRequest, sentAtMs: number): Promise<void> {
    const { sequence } = request;
    try {
      const reply = checkReply(await this.#store.sync(request));
      if (this.#isStopped || !this.#session.isAwaiting(sequence)) return;
      const nowMs = this.#timer.now();
      const changes = this.#session.onReply(sequence, reply, nowMs);
      this.#host.onReply(reply, sentAtMs, nowMs);
      this.#tell(changes);
    } catch (error) {
      if (this.#isStopped || !this.#session.isAwaiting(sequence)) return;
      this.#host.onFailure(error);
      this.#tell(this.#session.onFailure(sequence, this.#timer.now()));
    }
    // The next instant at which the session is due has changed.
    this.#asleep?.abort();
  }

  #tell(changes: readonly MembershipChange[]): void {
    if (changes.length > 0) this.#host.onChanges(changes);
  }
}
