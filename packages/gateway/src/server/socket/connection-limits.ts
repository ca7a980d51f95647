import { KeyedBuckets, TokenBucket } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";

/** How many clients may connect. A connection counts from its first byte, during a TLS handshake too. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** Loopback addresses are not counted: a local proxy may have all clients behind it. */
  readonly connectionsPerAddressMax: number;
  /** New connections a second, and at once; no limit unless given. */
  readonly perSecond?: number | undefined;
  /** New connections a second of one address, and at once; of any that is not loopback. */
  readonly perAddressPerSecond?: number | undefined;
}

const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 256,
};

const RATES = ["perSecond", "perAddressPerSecond"] as const;
const KEYS: ReadonlySet<string> = new Set([...Object.keys(DEFAULT_CONNECTION_LIMITS), ...RATES]);

/** Addresses whose rate is remembered; others share one bucket. */
const ADDRESSES_MAX = 10_000;

export function connectionLimits(given: Partial<ConnectionLimits> = {}): ConnectionLimits {
  requireKnownKeys("connections", given, KEYS);
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...given };
  for (const [key, value] of Object.entries(limits))
    if (value !== undefined) requireWhole(key, value, 1);
  return limits;
}

const LOOPBACK = /^(?:(?:::ffff:)?127\.|::1$)/;

/** Counts connections, all of them and by address; and how many come in a second. */
export class ConnectionCount {
  readonly #limits: ConnectionLimits;
  readonly #byAddress = new Map<string, number>();
  readonly #rate: TokenBucket | undefined;
  readonly #rateByAddress: KeyedBuckets | undefined;
  #all = 0;

  constructor(limits: ConnectionLimits, clock: Clock) {
    const { perSecond, perAddressPerSecond } = limits;
    this.#limits = limits;
    if (perSecond !== undefined) this.#rate = new TokenBucket({ rate: perSecond, clock });
    if (perAddressPerSecond !== undefined)
      this.#rateByAddress = new KeyedBuckets({
        rate: perAddressPerSecond,
        maxKeys: ADDRESSES_MAX,
        clock,
      });
  }

  get all(): number {
    return this.#all;
  }

  /** Counts a new connection; if it is refused, answers the reason. */
  tryEnter(address: string): string | undefined {
    const same = this.#byAddress.get(address) ?? 0;
    const { connectionsMax, connectionsPerAddressMax } = this.#limits;
    if (this.#all >= connectionsMax) return `there are ${connectionsMax} connections, the maximum`;
    if (same >= connectionsPerAddressMax && !LOOPBACK.test(address))
      return `there are ${connectionsPerAddressMax} connections of this address, the maximum`;
    const tooFast = this.#tooFast(address);
    if (tooFast !== undefined) return tooFast;
    this.#all++;
    this.#byAddress.set(address, same + 1);
    return undefined;
  }

  leave(address: string): void {
    const same = this.#byAddress.get(address) ?? 0;
    this.#all--;
    if (same > 1) this.#byAddress.set(address, same - 1);
    else this.#byAddress.delete(address);
  }

  #tooFast(address: string): string | undefined {
    const { perSecond, perAddressPerSecond } = this.#limits;
    const byAddress = LOOPBACK.test(address) ? undefined : this.#rateByAddress;
    if (byAddress?.tryAcquire(address) === false)
      return `more than ${perAddressPerSecond} new connections a second come from this address; try again in ${inSeconds(byAddress.pauseMs(address))}`;
    if (this.#rate?.tryAcquire() === false)
      return `more than ${perSecond} new connections come in a second; try again in ${inSeconds(this.#rate.pauseMs())}`;
    return undefined;
  }
}

function inSeconds(ms: number): string {
  return `${Math.ceil(ms / 100) / 10} s`;
}
