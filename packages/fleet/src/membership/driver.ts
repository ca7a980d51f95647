import type { Timer } from "@sluice/core";
import type { LeaveReason, PoolStore, SyncReply, SyncRequest } from "../store/pool-store.ts";
import { StoreError } from "../store/store-error.ts";
import { checkReply } from "./check-reply.ts";
import type { MembershipChange } from "./membership.ts";
import type { Condition, MemberSession } from "./session.ts";

/** Whom a driver works for. None of these may throw. */
export interface DriverHost {
  /** What to say at the sync that is sent now; asked once for each. */
  condition(): Condition;
  /** A sync was answered in time. */
  onReply(reply: SyncReply, nowMs: number): void;
  /** A sync failed, took too long or was answered with nonsense; or the leave failed. */
  onFailure(error: unknown): void;
  onChanges(changes: readonly MembershipChange[]): void;
}

/** Runs a session against a real store in real, or virtual, time. It is started once and stopped once. */
export class Driver {
  readonly #session: MemberSession;
  readonly #store: PoolStore;
  readonly #timer: Timer;
  readonly #host: DriverHost;
  #isStopped = false;
  #asleep: AbortController | undefined;

  constructor(
    session: MemberSession,
    { store, timer }: { readonly store: PoolStore; readonly timer: Timer },
    host: DriverHost,
  ) {
    this.#session = session;
    this.#store = store;
    this.#timer = timer;
    this.#host = host;
  }

  /** Syncs until it is stopped. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      // Before anybody is told anything: whoever is told may stop it.
      const { signal } = (this.#asleep = new AbortController());
      this.#onDue(this.#timer.now());
      const sleepMs = Math.max(0, this.#session.dueAtMs - this.#timer.now());
      await this.#timer.sleep(sleepMs, signal).catch(() => {});
    }
  }

  /** Stops syncing and gives the place back. A store that does not answer in time is left alone. */
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
    const givenUp = this.#session.giveUp(nowMs);
    if (givenUp !== undefined) {
      this.#host.onFailure(new StoreError("the store did not answer in time"));
      this.#tell(givenUp);
    }
    if (this.#isStopped || nowMs < this.#session.dueAtMs) return;
    const { send, changes } = this.#session.onDue(nowMs, this.#host.condition());
    this.#tell(changes);
    if (send !== undefined) void this.#sync(send);
  }

  async #sync(request: SyncRequest): Promise<void> {
    const { sequence } = request;
    try {
      const reply = checkReply(await this.#store.sync(request), request);
      const nowMs = this.#timer.now();
      // One that came late, or after the end, tells nothing; it is given up when that is due.
      if (this.#isStopped || !this.#session.isInTime(sequence, nowMs)) return;
      const changes = this.#session.onReply(sequence, reply, nowMs);
      this.#host.onReply(reply, nowMs);
      this.#tell(changes);
    } catch (error) {
      if (this.#isStopped || !this.#session.isAwaiting(sequence)) return;
      this.#host.onFailure(error);
      this.#tell(this.#session.onFailure(sequence, this.#timer.now()));
    }
    // The next is due at another time than the end of this one's.
    this.#asleep?.abort();
  }

  #tell(changes: readonly MembershipChange[]): void {
    if (changes.length > 0) this.#host.onChanges(changes);
  }
}
