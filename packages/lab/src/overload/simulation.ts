import type { BusyThrottle, Clock, Random } from "@sluice/core";
import { EventLoop } from "../sim/event-loop.ts";
import type { BusyService } from "./even-service.ts";

const SECOND_MS = 1000;

/** From `fromS` on the service takes so many a second. */
export interface CapacityPhase {
  readonly fromS: number;
  readonly perSecond: number;
}

export interface OverloadClient {
  readonly offeredPerSecond: number;
  /** When it begins; 0 unless given. */
  readonly fromS?: number;
}

export interface OverloadOptions {
  readonly clients: readonly OverloadClient[];
  /** Each client has a throttle of its own. */
  readonly throttle: (clock: Clock) => BusyThrottle;
  readonly service: BusyService;
  /** In order; the first begins at 0. */
  readonly capacity: readonly CapacityPhase[];
  /** The time from a request to its answer, asked for each. */
  readonly responseMs: () => number;
  readonly durationS: number;
}

/** One second, counted by when requests were sent. */
export interface OverloadSecond {
  readonly time: number;
  readonly offered: number;
  readonly sent: number;
  /** Of those sent: taken by the service. */
  readonly ok: number;
  readonly busy: number;
  readonly throttled: number;
  /** Of all clients together, when the second began; undefined if one of them had none. */
  readonly limit: number | undefined;
  readonly okByClient: readonly number[];
}

/**
 * Clients that offer steadily, each behind its throttle, against one service that refuses what is
 * too much. What a throttle refuses is dropped. Every request falls at random within its share of
 * the second, so that clients do not march in step.
 */
export function runOverload(options: OverloadOptions, random: Random): OverloadSecond[] {
  const { clients, capacity, service, responseMs, durationS } = options;
  // The end of the last second belongs to it; what comes after that is not run.
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
    let sequence = 0;
    const schedule = (): void => {
      const atMs = (fromS + (sequence + random.next()) / offeredPerSecond) * SECOND_MS;
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
      // Nothing is decided between instants.
    },
    () => seconds.length >= durationS,
  );
  return seconds;
}

function totalLimit(throttles: readonly BusyThrottle[]): number | undefined {
  let sum = 0;
  for (const throttle of throttles) {
    const { limit } = throttle.state();
    if (limit === undefined) return undefined;
    sum += limit;
  }
  return sum;
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
