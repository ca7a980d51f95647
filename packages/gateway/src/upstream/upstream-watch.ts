import type { BrokerObserver } from "../observe/broker-event.ts";
import { plainText } from "../refusal/refusal.ts";
import { targetName } from "../relay/target.ts";
import type { Target } from "../relay/target.ts";

/** Brokers whose loss is remembered. */
const LOST_MAX = 1_024;

/** Which brokers were lost. The observer hears of each once, and not once per connection. */
export class UpstreamWatch {
  readonly #observe: BrokerObserver;
  readonly #lost = new Set<string>();
  readonly #byBroker = new Map<string, number>();
  #connections = 0;

  constructor(observe: BrokerObserver) {
    this.#observe = observe;
  }

  /** Brokers that were lost and have not been reached again. */
  get lost(): readonly string[] {
    return [...this.#lost];
  }

  /** Connections to brokers that have said CONNECTED. */
  get connections(): number {
    return this.#connections;
  }

  /** A broker cannot be reached; without a target, none of the service URL. */
  onUnreachable(target: Target | undefined, reason: string): void {
    this.#lose(nameOf(target), reason);
  }

  /** A broker has said CONNECTED on a new connection. */
  onReached(target: Target): void {
    const upstream = nameOf(target);
    this.#connections++;
    this.#byBroker.set(upstream, (this.#byBroker.get(upstream) ?? 0) + 1);
    if (this.#lost.delete(upstream)) this.#observe({ kind: "upstream-back", upstream });
    // One of its addresses was reached.
    if (this.#lost.delete(SERVICE)) this.#observe({ kind: "upstream-back", upstream: SERVICE });
  }

  /**
   * A connection has ended; `lostBecause` if the broker ended it. Brokers end single connections of clients
   * that break a rule: only the last one of a broker means that the broker is lost.
   */
  onEnded(target: Target, lostBecause: string | undefined): void {
    const upstream = nameOf(target);
    const left = (this.#byBroker.get(upstream) ?? 1) - 1;
    this.#connections--;
    if (left > 0) this.#byBroker.set(upstream, left);
    else this.#byBroker.delete(upstream);
    if (left === 0 && lostBecause !== undefined) this.#lose(upstream, lostBecause);
  }

  #lose(upstream: string, reason: string): void {
    if (this.#lost.has(upstream) || this.#lost.size >= LOST_MAX) return;
    this.#lost.add(upstream);
    this.#observe({ kind: "upstream-lost", upstream, reason: plainText(reason) });
  }
}

/** All addresses of the service URL together. */
const SERVICE = "service URL";

function nameOf(target: Target | undefined): string {
  return target === undefined ? SERVICE : targetName(target);
}
