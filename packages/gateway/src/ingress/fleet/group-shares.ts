import type { FleetState } from "@sluice/fleet";
import type { StoreEvent } from "../../observe/store-event.ts";
import type { MakeTokens } from "../limits/level-tokens.ts";
import type { SharedTarget } from "../limits/limit-settings.ts";
import type { PublishLimits } from "../limits/publish-limits.ts";
import { MAX_MEMBERS, NAME, requireFleet, requireShareable } from "./fleet-settings.ts";
import { SharedTokens } from "./shared-tokens.ts";
import type { ShareDependencies } from "./shared-tokens.ts";
import { StoreNotice } from "./store-notice.ts";

export interface GroupSharesOptions extends Omit<ShareDependencies, "maxMembers"> {
  readonly limits: PublishLimits;
  /** Gateways of one store that give the same name share their limits; "gateway" unless given. */
  readonly name?: string | undefined;
  /** 8 unless given. */
  readonly maxMembers?: number | undefined;
  readonly tell: (event: StoreEvent | { readonly kind: "error"; readonly error: unknown }) => void;
}

/** A limit that this gateway shares, and its part of it. */
export interface SharedLimitState {
  readonly target: SharedTarget;
  readonly kind: "messages" | "bytes";
  readonly pool: string;
  /** Undefined until the store has answered: the safe share is used. */
  readonly fleet: FleetState | undefined;
}

interface Share {
  readonly target: SharedTarget;
  readonly kind: "messages" | "bytes";
  readonly tokens: SharedTokens;
}

/**
 * Limits of groups, and of the broker, that several gateways have together. Each kind of tokens of a
 * limit is one pool of `@sluice/fleet`: the gateways' shares add up to the rate at most, and follow what
 * each is asked for; a gateway whose publishers wait asks for more.
 */
export class GroupShares {
  readonly #options: GroupSharesOptions;
  readonly #maxMembers: number;
  readonly #shares = new Map<string, Share>();
  readonly #stop: () => void;
  readonly #leaving = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: GroupSharesOptions) {
    const { maxMembers = MAX_MEMBERS, limits } = options;
    requireFleet(options);
    this.#options = options;
    this.#maxMembers = maxMembers;
    this.#stop = limits.onChange(() => this.#leaveUnused());
  }

  /** From now on the limit, present or future, is shared with the other gateways. */
  share(target: SharedTarget, nowMs: number): void {
    requireShareable(target);
    const makeTokens: MakeTokens = (kind, rate) => this.#make(target, kind, rate);
    this.#options.limits.setTokens(target, makeTokens, nowMs);
  }

  states(): readonly SharedLimitState[] {
    return [...this.#shares].map(([pool, { target, kind, tokens }]) => ({
      target,
      kind,
      pool,
      fleet: tokens.state(),
    }));
  }

  /** Gives all shares back. What is published afterwards has no share left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    for (const pool of this.#shares.keys()) this.#leave(pool);
    await Promise.all(this.#leaving);
  }

  #make(target: SharedTarget, kind: Share["kind"], rate: number): SharedTokens | undefined {
    if (this.#isClosed) return undefined;
    const { name = NAME, limits, clock, tell } = this.#options;
    const whose = target.level === "broker" ? "broker" : `groups/${target.name}`;
    const pool = `${name}/${whose}/${kind}`;
    if (this.#shares.has(pool)) this.#leave(pool);
    const dependencies = { ...this.#options, maxMembers: this.#maxMembers };
    const user = {
      wake: () => limits.wake(clock.now()),
      isWaiting: () => limits.isWaiting(target),
    };
    const called = target.level === "broker" ? "broker" : `group ${target.name}`;
    const notice = new StoreNotice(called, kind, tell);
    const tokens = new SharedTokens(pool, rate, dependencies, { user, notice });
    this.#shares.set(pool, { target, kind, tokens });
    return tokens;
  }

  #leaveUnused(): void {
    for (const [pool, { target, kind }] of this.#shares)
      if (this.#options.limits.get(target)?.[kind] === undefined) this.#leave(pool);
  }

  #leave(pool: string): void {
    const share = this.#shares.get(pool);
    this.#shares.delete(pool);
    if (share === undefined) return;
    const left: Promise<void> = share.tokens
      .leave()
      .catch((error: unknown) => this.#options.tell({ kind: "error", error }))
      .finally(() => void this.#leaving.delete(left));
    this.#leaving.add(left);
  }
}
