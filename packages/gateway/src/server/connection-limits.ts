import { requireKnownKeys, requireWhole } from "@sluice/core/internal";

/** How many clients may connect. A connection counts from its first byte, during a TLS handshake too. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** Loopback addresses are not counted: a local proxy may have all clients behind it. */
  readonly connectionsPerAddressMax: number;
}

const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 256,
};

const KEYS: ReadonlySet<string> = new Set(Object.keys(DEFAULT_CONNECTION_LIMITS));

export function connectionLimits(given: Partial<ConnectionLimits> = {}): ConnectionLimits {
  requireKnownKeys("connections", given, KEYS);
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...given };
  for (const [key, value] of Object.entries(limits)) requireWhole(key, value, 1);
  return limits;
}

const LOOPBACK = /^(?:(?:::ffff:)?127\.|::1$)/;

/** Counts connections, all of them and by address. */
export class ConnectionCount {
  readonly #limits: ConnectionLimits;
  readonly #byAddress = new Map<string, number>();
  #all = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get all(): number {
    return this.#all;
  }

  /** Counts one more connection; answers why it may not come. */
  tryEnter(address: string): string | undefined {
    const same = this.#byAddress.get(address) ?? 0;
    const { connectionsMax, connectionsPerAddressMax } = this.#limits;
    if (this.#all >= connectionsMax) return `there are ${connectionsMax} connections, the maximum`;
    if (same >= connectionsPerAddressMax && !LOOPBACK.test(address))
      return `there are ${connectionsPerAddressMax} connections of this address, the maximum`;
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
}
