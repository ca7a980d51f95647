import type { Clock } from "@sluice/core";
import type { Rate } from "../../rate-setting.ts";
import { Quota } from "./quota.ts";
import type { QuotaVerdict } from "./verdict.ts";

/** All policies of one process: a request is charged to each, or to none. */
export class LocalQuotas {
  readonly #quotas: readonly Quota[];
  /** The only policy, if there is but one: it needs no look before it is charged. */
  readonly #only: Quota | undefined;

  constructor(clock: Clock, rates: readonly Rate[], maxKeys: number) {
    this.#quotas = rates.map((rate) => new Quota(clock, rate, maxKeys));
    this.#only = this.#quotas.length === 1 ? this.#quotas[0] : undefined;
  }

  /** Keys now held, of the policy that holds most. */
  get size(): number {
    return Math.max(0, ...this.#quotas.map(({ size }) => size));
  }

  /** What `take` would answer; nothing is charged. */
  look(key: string, cost: number, nowMs: number): QuotaVerdict {
    const states = this.#quotas.map((quota) => quota.look(key, cost, nowMs));
    return { isEnough: states.every(({ isEnough }) => isEnough), states };
  }

  /** Charges a request if all policies have enough; the states are those after it. */
  take(key: string, cost: number, nowMs: number): QuotaVerdict {
    if (this.#only !== undefined) {
      const isEnough = this.#only.tryTake(key, cost, nowMs);
      return { isEnough, states: [this.#only.state(key, isEnough ? 1 : cost, nowMs)] };
    }
    const found = this.look(key, cost, nowMs);
    if (!found.isEnough) return found;
    for (const quota of this.#quotas) quota.tryTake(key, cost, nowMs);
    return { isEnough: true, states: this.#quotas.map((quota) => quota.state(key, 1, nowMs)) };
  }
}
