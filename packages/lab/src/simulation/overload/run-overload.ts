import type { BusyThrottle, Clock, Random } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { EventLoop } from "../engine/event-loop.ts";
import { arrivalTimes } from "./arrival-times.ts";
import type { BusyService } from "../services/even-service.ts";

/** The capacity from `fromS` on. */
export interface CapacityPhase {
  readonly fromS: number;
  readonly perSecond: number;
}

export interface OverloadClient {
  /** For the whole run, or for each second of it. */
  readonly offeredPerSecond: number | readonly number[];
  /** Second in which the client starts. Default: 0. */
  readonly fromS?: number;
}

export interface OverloadOptions {
  readonly clients: readonly OverloadClient[];
  /** Creates the throttle of one client. */
  readonly throttle: (clock: Clock) => BusyThrottle;
  readonly service: BusyService;
  /** In order; the first begins at 0. */
  readonly capacity: readonly CapacityPhase[];
  /** Time from a request to its answer; called for each request. */
  readonly responseMs: () => number;
  readonly durationS: number;
}

/** Counts of one second, by the time at which requests were sent. */
export interface OverloadSecond {
  readonly time: number;
  readonly offered: number;
  readonly sent: number;
  /** Sent and taken by the service. */
  readonly ok: number;
  readonly busy: number;
  readonly throttled: number;
  /** Sum over all clients when the second began; undefined while at least one of them has no limit. */
  readonly limit: number | undefined;
  readonly okByClient: readonly number[];
}

/**
 * Clients with given traffic, each behind a throttle, against one service. Throttled requests are
 * dropped. Request n of a client falls at random between n and n + 1 intervals, so that clients do
 * not send in step.
 *
 * @example
 * const seconds = runOverload(
 *   {
 *     clients: [{ offeredPerSecond: 5000 }],
 *     throttle: (clock) => createBusyThrottle({ clock }),
 *     service: new EvenService(),
 *     capacity: [{ fromS: 0, perSecond: 2000 }],
 *     responseMs: () => 50,
 *     durationS: 60,
 *   },
 *   new SeededRandom(1),
 * );
 */
export function runOverload(options: OverloadOptions, random: Random): OverloadSecond[] {
  const { clients, capacity, service, responseMs, durationS } = options;
  // One second more than the run: the last second is closed by the event that begins the next.
  const endMs = (durationS + 1) * SECOND_MS;
  const loop = new EventLoop({ timerQuantumMs: 0, endMs });
  const throttles = clients.map(() => options.throttle(loop));
  const seconds: OverloadSecond[] = [];
  let counts = new Counts(clients.length);
  let phase = 0;
  let limit = totalLimit(throttles);

  const begin = (time: number): void => {
    if (time > 0) {
      seconds.push({ time: time - 1, limit, ...counts.taken() });
      counts = new Counts(clients.length);
      limit = totalLimit(throttles);
    }
    while ((capacity[phase + 1]?.fromS ?? durationS) <= time && phase + 1 < capacity.length)
      phase++;
    if (time < durationS) loop.at((time + 1) * SECOND_MS, () => begin(time + 1));
  };

  const arrive = (throttle: BusyThrottle, client: number): void => {
    const sentAtMs = loop.now();
    counts.offered++;
    if (!throttle.trySend(sentAtMs)) return;
    const isTaken = service.takes(sentAtMs, capacity[phase]?.perSecond ?? 0);
    counts.onSent(client, isTaken);
    loop.after(responseMs(), () => throttle.onAnswer(sentAtMs, !isTaken, loop.now()));
  };

  begin(0);
  for (const [index, { offeredPerSecond, fromS = 0 }] of clients.entries()) {
    const throttle = throttles[index] as BusyThrottle;
    const timeOf = arrivalTimes(offeredPerSecond);
    let sequence = 0;
    const schedule = (): void => {
      const atMs = (fromS + timeOf(sequence + random.next())) * SECOND_MS;
      sequence++;
      loop.at(atMs, () => {
        arrive(throttle, index);
        schedule();
      });
    };
    schedule();
  }
  loop.run(
    endMs,
    () => {
      // Only events change anything.
    },
    () => seconds.length >= durationS,
  );
  return seconds;
}

function totalLimit(throttles: readonly BusyThrottle[]): number | undefined {
  let total = 0;
  for (const throttle of throttles) {
    const { limit } = throttle.state();
    if (limit === undefined) return undefined;
    total += limit;
  }
  return total;
}

class Counts {
  offered = 0;
  #sent = 0;
  #ok = 0;
  readonly #okByClient: number[];

  constructor(clients: number) {
    this.#okByClient = Array.from({ length: clients }, () => 0);
  }

  onSent(client: number, isTaken: boolean): void {
    this.#sent++;
    if (!isTaken) return;
    this.#ok++;
    this.#okByClient[client] = (this.#okByClient[client] as number) + 1;
  }

  taken(): Omit<OverloadSecond, "time" | "limit"> {
    return {
      offered: this.offered,
      sent: this.#sent,
      ok: this.#ok,
      busy: this.#sent - this.#ok,
      throttled: this.offered - this.#sent,
      okByClient: this.#okByClient,
    };
  }
}
