import { SeededRandom } from "@sluice/core";
import type { Random } from "@sluice/core";
import { LoadedService, QueueingService } from "@sluice/lab/sim";
import type { EventLoop, LoadResponse, QueueingServiceOptions, Service } from "@sluice/lab/sim";

/**
 * One of the twelve: a service, and the clients that want as much of it as they can get. None
 * without jitter: where all answers take the same time, requests lock in step and a limiter is lucky.
 */
export interface Workload {
  readonly name: string;
  readonly what: string;
  readonly durationS: number;
  /** Left out of the p99: all clients are there and have found their limits. */
  readonly warmUpS: number;
  readonly clients: number;
  readonly joinEveryS: number;
  /** When the service becomes smaller or larger. */
  readonly stepsS: readonly number[];
  /** Paces that the oracle tries beside fixed limits: where a rate is what is limited. */
  readonly pacesPerSecond: readonly number[];
  readonly createService: (loop: EventLoop, random: Random) => Service;
}

/**
 * Random numbers for the service alone, which clients and limiters do not draw from. With one seed the
 * nth request takes the same time under every limiter, so that only their decisions differ.
 */
function ownRandom(random: Random): Random {
  return new SeededRandom(Math.floor(random.next() * 2 ** 32));
}

const NONE: LoadResponse = { scale: 0, kneeStart: 0, kneeExp: 0, limit: 0, action: "defer" };

function loaded(
  concurrency: Partial<LoadResponse>,
  rate: Partial<LoadResponse> = {},
  rejectMs?: number,
): Workload["createService"] {
  return (loop, random) =>
    new LoadedService(loop, ownRandom(random), {
      delayMs: 100,
      jitter: 0.05,
      concurrency: { ...NONE, ...concurrency },
      rate: { ...NONE, ...rate },
      rejectMs,
    });
}

function queueing(options: Partial<QueueingServiceOptions> = {}): Workload["createService"] {
  return (loop, random) =>
    new QueueingService(loop, ownRandom(random), {
      workers: 20,
      serviceMs: 50,
      distribution: "exponential",
      cv: 1,
      queue: undefined,
      rejectMs: 2,
      schedule: [],
      ...options,
    });
}

const steady = { stepsS: [], pacesPerSecond: [] };
const one = { ...steady, durationS: 60, warmUpS: 10, clients: 1, joinEveryS: 0 };
const four = { ...steady, durationS: 80, warmUpS: 25, clients: 4, joinEveryS: 5 };

export const WORKLOADS: readonly Workload[] = [
  { name: "W1", what: "unlimited link", ...one, createService: loaded({}) },
  { name: "W2", what: "defer above 50", ...one, createService: loaded({ limit: 50 }) },
  {
    name: "W2b",
    what: "defer above 50, in 5 ms",
    ...one,
    createService: loaded({ limit: 50 }, {}, 5),
  },
  {
    name: "W3",
    what: "drop above 50",
    ...one,
    createService: loaded({ limit: 50, action: "drop" }),
  },
  {
    name: "W4",
    what: "defer above 100/s, all count",
    ...one,
    pacesPerSecond: [90, 95, 98, 99, 100, 101],
    createService: loaded({}, { limit: 100 }),
  },
  { name: "W5", what: "20 workers, exponential", ...one, createService: queueing() },
  {
    name: "W5b",
    what: "20 workers, log-normal cv 2",
    ...one,
    createService: queueing({ distribution: "lognormal", cv: 2 }),
  },
  {
    name: "W6",
    what: "workers 20, 5, 40",
    ...one,
    stepsS: [20, 40],
    createService: queueing({
      schedule: [
        { atS: 20, workers: 5 },
        { atS: 40, workers: 40 },
      ],
    }),
  },
  {
    name: "W7",
    what: "knee at 20, factor 1.1",
    ...one,
    createService: loaded({ kneeStart: 20, kneeExp: 1.1 }),
  },
  { name: "W8", what: "20 workers, queue of 20", ...one, createService: queueing({ queue: 20 }) },
  {
    name: "W10",
    what: "four clients join, 20 workers",
    ...four,
    createService: queueing(),
  },
  {
    name: "W11",
    what: "four clients join, defer above 40",
    ...four,
    createService: loaded({ limit: 40 }),
  },
];
