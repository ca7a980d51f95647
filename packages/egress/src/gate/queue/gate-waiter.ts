import type { Permit, PermitWaiter } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { Alarms, Sleeper, Waiter } from "@sluice/core/internal";
import type { Call } from "../options/call-options.ts";
import type { LeftBecause, RefusedAt } from "../error/refusal.ts";
import type { WaitHandler } from "../permit/wait-handler.ts";

/** The queue that a waiter is in. */
export interface WaiterOwner {
  readonly deadlines: Alarms;
  /** The waiter got its permit. */
  onGone(waiter: GateWaiter): void;
  /** The caller does not want the call any more. */
  giveUp(waiter: GateWaiter, why: unknown, leftBecause: LeftBecause): void;
  refuse(waiter: GateWaiter, nowMs: number, refusedAt: RefusedAt): void;
  /** Refuses a waiter that has left the queue already. */
  turnAway(waiter: GateWaiter, nowMs: number, refusedAt: RefusedAt): void;
}

/** A call in the queue. It ends its wait at its deadline and when its caller's signal is aborted. */
export class GateWaiter implements PermitWaiter, Sleeper {
  readonly call: Call;
  readonly weight: number = 0;
  readonly priority: number = 0;
  /** When the call joined the queue. */
  sinceMs = 0;
  readonly handler: WaitHandler;
  readonly #owner: WaiterOwner;
  isAttached = false;
  link: Waiter["link"];
  place: number | undefined;

  constructor(owner: WaiterOwner, call: Call, handler: WaitHandler) {
    this.#owner = owner;
    this.call = call;
    this.weight = call.weight;
    this.priority = call.priority;
    this.handler = handler;
  }

  get dueMs(): number {
    return this.call.deadlineAtMs ?? 0;
  }

  /** Whether the deadline is before `atMs`, so that waiting until then would be in vain. */
  isInVain(atMs: number): boolean {
    const { deadlineAtMs } = this.call;
    return deadlineAtMs !== undefined && deadlineAtMs < atMs;
  }

  attach(nowMs: number): void {
    const { deadlineAtMs, signal } = this.call;
    this.sinceMs = nowMs;
    this.isAttached = true;
    if (deadlineAtMs !== undefined) this.#owner.deadlines.set(this, nowMs);
    if (signal !== undefined) addAbortListener(signal, this);
  }

  detach(): void {
    const { deadlineAtMs, signal } = this.call;
    this.isAttached = false;
    if (deadlineAtMs !== undefined) this.#owner.deadlines.clear(this);
    if (signal !== undefined) removeAbortListener(signal, this);
  }

  onPermit(permit: Permit): void {
    if (this.isAttached) {
      this.detach();
      this.#owner.onGone(this);
    }
    this.handler.onPermit(permit, permit.startedAtMs - this.sinceMs);
  }

  /** The deadline has passed, though its alarm has not rung yet: the call must not start. */
  isLate(nowMs: number): boolean {
    return this.isInVain(nowMs);
  }

  onLate(nowMs: number): void {
    this.#owner.turnAway(this, nowMs, "deadline");
  }

  /** The deadline has come. */
  ring(nowMs: number): void {
    this.#owner.refuse(this, nowMs, "deadline");
  }

  /** The caller's signal was aborted. */
  handleEvent(): void {
    this.#owner.giveUp(this, this.call.signal?.reason, "aborted");
  }
}
