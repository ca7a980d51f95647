import { Ramp } from "@sluice/core";
import type { RampOptions } from "@sluice/core";
import { EpochAccount } from "@sluice/core/internal";
import type { Division, Seat, Usage } from "@sluice/core/internal";

export interface LockstepOptions {
  readonly rateLimit: RampOptions;
  readonly members: number;
  readonly division: Division;
  readonly resumeFrom?: number | undefined;
  /** Second in which the pool is made. */
  readonly constructedAt: number;
}

/** What every member does at second `t`; with neither `use` nor `ask` it is only looked at. */
export interface LockstepCall {
  readonly t: number;
  /** The pool has this size from here on. */
  readonly members?: number | undefined;
  /** Take all that is offered, keep this much, give back the rest. */
  readonly use?: number | undefined;
  readonly ask?: number | "all" | undefined;
  readonly deposit?: number | undefined;
  /** Of one queue that all members read: together they take what is offered and keep this much. */
  readonly useTogether?: number | undefined;
}

export interface LockstepRow {
  readonly t: number;
  readonly ceiling: number;
  /** By member. */
  readonly granted: number[];
  /** By all members, in this call. */
  readonly used: number;
}

/** A pool whose members know its size and all make the same calls at the same time. */
export class LockstepPool {
  readonly #ramp: Ramp;
  readonly #division: Division;
  #size: number;
  /** The last epoch with a call. */
  #epoch: number | undefined;
  #ceiling = 0;
  #accounts: EpochAccount[] = [];
  /** Tokens that were used in this epoch by members that have gone since. */
  #usedByLeavers = 0;

  constructor({ rateLimit, members, division, resumeFrom, constructedAt }: LockstepOptions) {
    const epoch = Math.floor(constructedAt);
    this.#ramp = new Ramp(rateLimit, resumeFrom === undefined ? { epoch } : { epoch, resumeFrom });
    this.#division = division;
    this.#size = members;
  }

  call(call: LockstepCall): LockstepRow {
    const epoch = Math.floor(call.t);
    const isNewEpoch = this.#epoch === undefined || epoch > this.#epoch;
    if (call.members !== undefined) this.#setSize(call.members, isNewEpoch);
    if (isLook(call)) {
      const { ceiling } = this.#ramp.peek(epoch, this.#usage());
      return { t: call.t, ceiling, granted: Array.from({ length: this.#size }, () => 0), used: 0 };
    }
    if (isNewEpoch) this.#enter(epoch);
    return { t: call.t, ceiling: this.#ceiling, ...this.#acquire(call) };
  }

  #acquire(call: LockstepCall): { granted: number[]; used: number } {
    const { use, ask, deposit = 0, useTogether } = call;
    const isAll = use !== undefined || useTogether !== undefined || ask === "all";
    const granted: number[] = [];
    let used = 0;
    for (const account of this.#accounts) {
      const grant = account.acquire(isAll ? Infinity : (ask ?? 0));
      const kept = useTogether === undefined ? use : useTogether - used;
      const unused = kept === undefined ? deposit : Math.max(0, grant.count - kept);
      granted.push(grant.count);
      used += grant.count - grant.deposit(unused);
    }
    return { granted, used };
  }

  #enter(epoch: number): void {
    this.#ceiling = this.#ramp.enter(epoch, this.#usage()).ceiling;
    this.#epoch = epoch;
    this.#usedByLeavers = 0;
    this.#accounts = [];
    this.#seatNewcomers(this.#ceiling, epoch);
  }

  #setSize(size: number, isNewEpoch: boolean): void {
    this.#size = size;
    // The last epoch is judged by the members that it had; the next one starts with the new size.
    if (isNewEpoch || this.#epoch === undefined) return;
    for (const leaver of this.#accounts.splice(size)) this.#usedByLeavers += leaver.usage.used;
    const left = this.#ceiling - this.#usage().used;
    for (const [rank, account] of this.#accounts.entries()) account.resize(this.#seat(rank), left);
    this.#seatNewcomers(left, this.#epoch);
  }

  #seatNewcomers(tokens: number, epoch: number): void {
    for (let rank = this.#accounts.length; rank < this.#size; rank++) {
      this.#accounts.push(
        new EpochAccount({
          ceiling: tokens,
          seat: this.#seat(rank),
          epoch,
          division: this.#division,
        }),
      );
    }
  }

  #seat(rank: number): Seat {
    return { poolSize: this.#size, rank };
  }

  #usage(): Usage {
    let used = this.#usedByLeavers;
    let unused = 0;
    for (const account of this.#accounts) {
      used += account.usage.used;
      unused += account.usage.unused;
    }
    return { used, unused };
  }
}

export function isLook({ use, ask, useTogether }: LockstepCall): boolean {
  return use === undefined && ask === undefined && useTogether === undefined;
}
