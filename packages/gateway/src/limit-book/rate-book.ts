import { ConfigError } from "@sluice/core";
import type { Clock } from "@sluice/core";
import type { BrokerObserver } from "../observe/broker-event.ts";
import type { LimitsRecord } from "../policy/limits-record.ts";
import type { NamespaceRecord } from "../policy/namespace-record.ts";
import type { PolicyBook } from "../policy/policy-book.ts";
import type { RateOf } from "./dispatch-policies.ts";
import { FollowedRates, isSameRate } from "./followed-rates.ts";
import type { ChangedRate, SettableRates } from "./followed-rates.ts";
import type { LimitSource } from "./limit-source.ts";

/** Rates of one sort: what they are for, and where they are kept. */
export interface RateSort<Target, Rate> {
  /** Such as "dispatch rate". */
  readonly what: string;
  readonly rates: SettableRates<Target, Rate>;
  /** One text for all forms of a target's name. @throws ConfigError if it is wrong. */
  readonly keyOf: (target: Target) => string;
  readonly describe: (target: Target) => string;
  /** @throws ConfigError if no bucket can have the rate. */
  readonly require: (target: Target, rate: Rate) => void;
  /** Most rates that can be set. */
  readonly ratesMax: number;
  readonly ofNamespace: (
    namespace: string,
    record: NamespaceRecord,
  ) => readonly RateOf<Target, Rate>[];
  readonly ofLimits: (limits: LimitsRecord) => readonly RateOf<Target, Rate>[];
  /** Keeps a rate, or removes it. */
  readonly store: (target: Target, rate: Rate | undefined) => Promise<void>;
  /** Whether it belongs to a topic or a namespace, so that it is a policy of Pulsar's. */
  readonly isPolicy: (target: Target) => boolean;
  readonly setAtMs: (target: Target) => number | undefined;
}

export interface RateBookDependencies<Target, Rate> {
  readonly policies: PolicyBook;
  readonly clock: Clock;
  readonly observe: BrokerObserver;
  readonly onChanged: (change: ChangedRate<Target, Rate>) => void;
}

/** A rate that is set, and from where. */
export interface ListedRate<Target, Rate> extends RateOf<Target, Rate> {
  readonly source: LimitSource;
  /** Wall time; undefined if it came with the start, or from a version that did not keep it. */
  readonly setAtMs?: number;
}

/** The owner of rates that belong to no namespace; no namespace has an empty name. */
const LIMITS = "";

/**
 * The rates of one sort that hold, and from where. A rate that was set while the process ran is kept in the policy
 * book and holds before the one of the start, also after a restart; when it is removed, the one of the start holds
 * again. Whatever changes a policy, also the deletion of a topic or a namespace, changes the rate at once.
 */
export class RateBook<Target, Rate extends object> {
  readonly #sort: RateSort<Target, Rate>;
  readonly #policies: PolicyBook;
  readonly #clock: Clock;
  readonly #followed: FollowedRates<Target, Rate>;

  constructor(
    sort: RateSort<Target, Rate>,
    { policies, clock, observe, onChanged }: RateBookDependencies<Target, Rate>,
  ) {
    this.#sort = sort;
    this.#policies = policies;
    this.#clock = clock;
    this.#followed = new FollowedRates(sort.rates, sort.keyOf, (target, cause) => {
      const what = `the stored ${sort.what} of ${sort.describe(target)} is left out`;
      observe({ kind: "error", error: new ConfigError(`${what}: ${cause.message}`) });
    });
    this.#follow(LIMITS);
    for (const namespace of policies.namespaces()) this.#follow(namespace);
    policies.addCheck((next) => {
      if ("limits" in next) this.#requireAll(LIMITS, sort.ofLimits(next.limits));
      else this.#requireAll(next.namespace, sort.ofNamespace(next.namespace, next.record));
    });
    policies.onChange((what) => {
      for (const change of this.#follow(what === "limits" ? LIMITS : what.namespace))
        onChanged(change);
    });
  }

  list(): readonly ListedRate<Target, Rate>[] {
    return this.#sort.rates.list().map(({ target, rate }) => this.#listed(target, rate));
  }

  get(target: Target): ListedRate<Target, Rate> | undefined {
    const rate = this.#sort.rates.get(target);
    return rate && this.#listed(target, rate);
  }

  /** Durable before it holds. @throws ConfigError if the target or the rate is wrong. */
  async set(target: Target, rate: Rate): Promise<void> {
    this.#sort.keyOf(target);
    this.#sort.require(target, rate);
    await this.#sort.store(target, rate);
  }

  /**
   * The rate that the process was started with holds again, or none. Answers which.
   *
   * @throws ConfigError if only the start has given it: then it can be replaced, but not removed.
   */
  async unset(target: Target): Promise<Rate | undefined> {
    if (this.get(target)?.source === "flow file")
      throw new ConfigError(
        `the ${this.#sort.what} of ${this.#sort.describe(target)} is in the settings that the gateway was started with; set another one, or remove it there`,
      );
    await this.#sort.store(target, undefined);
    return this.#sort.rates.get(target);
  }

  #listed(target: Target, rate: Rate): ListedRate<Target, Rate> {
    if (!this.#followed.isStored(target)) return { target, rate, source: "flow file" };
    const setAtMs = this.#sort.setAtMs(target);
    return {
      target,
      rate,
      source: this.#sort.isPolicy(target) ? "policy" : "live",
      ...(setAtMs !== undefined && { setAtMs }),
    };
  }

  #follow(owner: string): readonly ChangedRate<Target, Rate>[] {
    return this.#followed.follow(owner, this.#storedBy(owner), this.#clock.now());
  }

  #storedBy(owner: string): readonly RateOf<Target, Rate>[] {
    const { ofLimits, ofNamespace } = this.#sort;
    if (owner === LIMITS) return ofLimits(this.#policies.limits);
    return ofNamespace(owner, this.#policies.recordOf(owner));
  }

  /** What is stored must be applicable: else the change would be answered as done and not hold. */
  #requireAll(owner: string, next: readonly RateOf<Target, Rate>[]): void {
    const { keyOf, rates, ratesMax, what } = this.#sort;
    const former = new Map(
      this.#storedBy(owner).map(({ target, rate }) => [keyOf(target), rate] as const),
    );
    let added = 0;
    for (const { target, rate } of next) {
      if (isSameRate(former.get(keyOf(target)), rate)) continue;
      this.#sort.require(target, rate);
      if (rates.get(target) === undefined) added++;
    }
    if (added === 0 || rates.list().length + added <= ratesMax) return;
    throw new ConfigError(
      `${ratesMax} limits (${what}) are set, the maximum; remove one, or set one for a namespace`,
    );
  }
}
