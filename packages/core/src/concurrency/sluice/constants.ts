/**
 * The numbers of `SluiceLimit`. "Tuned" means: chosen on sixty simulated workloads (limits of 1 to 200,
 * round trips of 5 to 700 ms, queues, quotas, random losses, steps, one to ten clients), none of which
 * is among the twelve that the benchmark reports. Counts of attempts are attempts of mean weight.
 */

// --- Slow start -------------------------------------------------------------------------------------

/**
 * Growth for each attempt served, as a fraction of its weight: × 1.6 in a round trip. Raised, the
 * start is faster and overshoots further: signs of a queue come one round trip late. Tuned.
 */
export const START_GAIN = 0.6;
/**
 * Round trips after which a window of the start is judged: this many, or this fraction of the limit if
 * that is more. Raised, a queue is found later; lowered, noise ends the start. Tuned.
 */
export const START_COUNT = 8;
export const START_COUNT_PER_LIMIT = 0.25;
/**
 * Round trips that the baseline of a start has at most. Bounds the cost: a client with little to do may
 * stay in the start for ever, and would sort the baseline anew in each of its windows.
 */
export const START_SAMPLES = 64;
/**
 * A queue of more than this many attempts ends the start, or of more than this factor × √limit if that
 * is more. Raised, more overshoot; lowered, chance ends the start. Tuned.
 */
export const START_QUEUE = 1;
export const START_QUEUE_ROOT = 0.5;
/**
 * Fraction of the limit that is left while the queue that ended the start drains. Raised, a small peer
 * is not empty when it is measured; lowered, more is lost meanwhile. Tuned.
 */
export const START_DRAIN: number = 1 / 3;

// --- Windows: round trips that are judged together --------------------------------------------------

/** Weight of the newest round trip in the mean that times holds and cool-downs. Raised: noisier. */
export const RTT_ALPHA = 0.1;
/**
 * Round trips that a window or the baseline holds at most: this many, or three for each attempt in
 * flight, which shows a queue of few among many. Raised: smaller queues are seen, later. Tuned.
 */
export const SAMPLES = 128;
export const SAMPLES_PER_LIMIT = 3;
/** Bound of the above, so that memory and sorting stay small. */
export const SAMPLES_MAX = 512;
/** Round trips that a window has before it is first judged. Raised: surer and slower. Tuned. */
export const WINDOW_MIN = 16;
/** A window is judged again after this many more, or after an eighth of its least size. */
export const WINDOW_PORTION = 8;
/** Mean round trips after which a window is judged as it is. Raised: slower on idle links. Tuned. */
export const WINDOW_ROUND_TRIPS = 8;
/**
 * Round trips after which a window stops waiting for the number in flight to fall to a lowered limit:
 * a caller that only watches (`forceAcquire`) never lowers it.
 */
export const SETTLE_ROUND_TRIPS = 20;

// --- Estimates --------------------------------------------------------------------------------------

/** The fast quarter of the round trips is compared: its end is measured better than the mean. */
export const QUANTILE = 0.25;
/**
 * Shorter round trips count as this long, in ms, so waiting within the first 2 ms is no queue. Raised, services that
 * answer faster wait for longer; lowered, a service on the same machine gets so few requests at once that each costs
 * the client a turn of its event loop. Measured by a script like the benchmark `pulsar-http`, at a load of 32: CPU a message 197 µs
 * without, 186 µs with 1, 165 µs with 2.
 */
export const ROUND_TRIP_MIN_MS = 2;
/** Below this many values their spread says nothing about the error, which is then value ÷ √count. */
export const SPREAD_COUNT_MIN = 8;
/** Least relative standard error: clocks and schedulers are no better. Raised: small queues stay. */
export const ERROR_MIN = 0.01;
/**
 * Standard errors by which the mean must show more waiting than the low quantile to be used instead.
 * Lowered, slow outliers pass for a queue. Three: chance explains less than 0.3 %.
 */
export const MEAN_SURE = 3;

// --- Queue: bounds in attempts, errors in standard errors ------------------------------------------

/**
 * A queue that is surely longer than this many attempts, or than this factor × √limit, is drained.
 * Raised, longer queues stand; lowered, chance causes drains, which cost throughput. Tuned.
 */
export const QUEUE_LONG = 4;
export const QUEUE_LONG_ROOT = 1.5;
/** "Surely" for a window that is not full yet, and for a full one, and for all smaller bounds. */
export const SURE_EARLY = 3;
export const SURE = 2;
/**
 * A queue above `max(0.5 × √limit, min(2, 1 + error))` attempts takes one attempt off the limit.
 * Raised, a short queue stands for ever; lowered, the limit wavers. Tuned.
 */
export const QUEUE_SHORT_ROOT = 0.5;
export const QUEUE_SHORT_MIN = 1;
export const QUEUE_SHORT_MAX = 2;
/**
 * There is room for more while the queue is below
 * `max(0.3 × √limit, min(max(1.5, 0.6 × √limit), 0.5 + error))` attempts. Raised, probes go on in spite
 * of a queue; lowered, noise stops growth. Tuned.
 */
export const ROOM_ROOT = 0.3;
export const ROOM_ROOT_MAX = 0.6;
export const ROOM_MAX = 1.5;
export const ROOM_MIN = 0.5;

// --- Drains and the baseline ------------------------------------------------------------------------

/** Fraction of the new limit while a queue drains. Lowered: drains faster, costs more. Tuned. */
export const DRAIN_QUEUE = 0.8;
/** Fraction of the limit while the baseline is measured anew. Raised: a queue may remain. Tuned. */
export const DRAIN_BASELINE = 0.5;
/**
 * Round trips measured in a drain, or one for each attempt of the limit; fewer suffice once their
 * relative standard error is below `DRAIN_ERROR`. Raised: better baselines, longer drains. Tuned.
 */
export const DRAIN_MIN = 48;
export const DRAIN_ERROR = 0.02;
/**
 * Standard errors by which a drained window differs from the baseline to replace it instead of adding
 * to it. Without it clients that share a queue drift apart: Jain's index 0.98 → 0.85 in W10.
 */
export const BASELINE_DIFFERS = 3;
/**
 * Age at which a baseline is measured anew while something queues, in ms; less if it holds few samples.
 * Raised, a queue of other clients is taken for the service for longer; lowered, drains cost more.
 */
export const BASELINE_AGE_MS = 10_000;
/**
 * Round trips this many times the baseline in a drained window: the peer has become slower, and no
 * queue is the cause. Raised, it is found later; lowered, what is left of the queue is taken for a slower peer. Tuned.
 */
export const SLOWER = 1.5;
/** Fraction of the limit before the drain that is kept then: most of what was cut was no queue. */
export const SLOWER_RESUME = 0.5;

// --- Growth -----------------------------------------------------------------------------------------

/** Fraction of a probe whose answers are not waited for. Raised: faster, less sure. Tuned. */
export const PROBE_REST = 0.25;
/** Within this fraction of where the limit last had to stop, growth goes by small steps. Tuned. */
export const EDGE_NEAR = 0.3;
/** How long that is remembered: this many round trips, at most this many ms. Raised: slower growth. */
export const EDGE_ROUND_TRIPS = 100;
export const EDGE_MAX_MS = 5000;
/** Round trips without growth after a loss and beside a queue. Raised: slower, fewer losses. Tuned. */
export const HOLD_LOSS = 20;
export const HOLD_QUEUE = 4;
/** The longest hold, in ms, however long round trips are. */
export const HOLD_MAX_MS = 30_000;
/** A hold is drawn evenly from ± this fraction, so that clients do not grow in step. */
export const HOLD_JITTER = 0.25;
/**
 * Round trips after which a probe that has not ended says nothing any more: the attempt may be a long
 * poll. Raised, such an attempt stops growth for longer.
 */
export const PROBE_ROUND_TRIPS = 30;

// --- Losses -----------------------------------------------------------------------------------------

/** Losses up to this fraction of what ended are random. Raised: overload costs more losses. Tuned. */
export const RANDOM_LOSSES = 0.015;
/** Loss ratio, as a multiple of the usual one, that an alarm is meant to find. Tuned. */
export const LOSS_RISE = 10;
/**
 * Likelihood (natural logarithm) at which losses are more than usual: three in a row, or four of
 * fifteen. Raised, random losses cut less often, and overload is found later. Tuned.
 */
export const LOSS_ALARM = 6;
export const LOSS_ALARM_MANY = 9.5;
/** Losses after a cut, with nothing served, that make an outage. Raised: later; lowered: chance. */
export const OUTAGE_LOSSES = 3;
export const OUTAGE_LOSSES_PER_LIMIT = 0.5;
/** What is left, with each attempt served, of the longest time that an attempt took to end. */
export const END_DECAY = 0.999;
/** Slowing down is expected to leave this fraction of the losses if load caused them. */
export const IN_VAIN_LEFT = 0.25;
/** Likelihood (natural logarithm) at which slowing down was in vain: 12 to 1. Tuned. */
export const IN_VAIN_SURE = 2.5;
/** Ends after which a trial is decided by what is more likely. Raised: a longer trial at half the rate. */
export const TRIAL_ENDS_MAX = 250;
/** Losses above this fraction are never random: it would be an outage. */
export const RANDOM_LOSSES_MAX = 0.3;
/** Losses found to be random are tolerated up to 1.5 times their ratio, which decays by window. */
export const TOLERANCE = 2;
export const TOLERANCE_DECAY = 0.999;
/** Ends with few losses that a loss ratio is averaged with, so that three losses in a row are not 100 %. */
export const PRIOR_ENDS = 50;
/** Random losses are learned for limits up to this many times the one that they were found at. */
export const LEARNED_FOR = 3;
/** From this many ends on, older ends count half with each window. Raised: a longer memory. */
export const ENDS_MAX = 200;
/**
 * Losses overtake each other by a few only. One that comes after the cut corrects it if it had at least
 * this fraction of the new limit in flight; with fewer it has another cause. Tuned.
 */
export const OVERTAKEN = 0.75;
/**
 * A number in flight is not to blame for losses if the peer served this many times as many at once. Raised,
 * random losses without an answer cut the slow start to a small limit; lowered, the rate of a burst refutes
 * a limit that is real. Tuned.
 */
export const SUSPECT_REFUTED = 1.25;

// --- Sharing: other clients behind the same concurrency limit -----------------------------------------

/** An attempt that is lost after more than this many round trips got no answer. */
export const SILENT_ROUND_TRIPS = 2;
/** Time between two yields of a client that is alone, in ms. Raised: newcomers wait; lowered: costs. */
export const YIELD_EVERY_MS = 8000;
/**
 * Fraction of the limit that is left in a yield, and the least time that it lasts, in ms. Raised, newcomers
 * have more time to get in, and a client that is alone pays more: W3 0.965 at 150 ms, 0.960 at 400 ms. With
 * 150 ms newcomers, whose probes are 100 ms apart, miss it: Jain's index 0.34 in the worst of 14 seeds.
 */
export const YIELD_LEFT = 0.75;
export const YIELD_MIN_MS = 400;
/** Times that a refused number is served later until the limit counts as shared. Lowered: chance. */
export const SHARED_MOVES = 2;
/** How long a limit counts as shared after the last sign of other clients, in ms. */
export const SHARED_MS = 60_000;
/** Fraction of a shared limit that a refusal leaves, and round trips between two steps up. Tuned. */
export const SHARED_DECREASE = 0.75;
export const HOLD_SHARED = 5;

// --- Outage: nothing is served ----------------------------------------------------------------------

/** Longest cool-down after a cut, in ms. It is one round trip, which may be long. */
export const COOL_DOWN_MAX_MS = 2000;
/**
 * Probes a second in an outage: drawn from this number to 1.2 times it, so 83 to 100 ms apart. Raised, a
 * restart is noticed sooner, and a peer in trouble gets more. Goal: noticed within 100 ms.
 */
export const OUTAGE_PROBE_MIN_PER_SECOND = 10;
export const OUTAGE_PROBE_JITTER = 0.2;
/** Probes in flight at most: those of a second, because a probe may hang until its timeout. */
export const OUTAGE_PROBES = 12;
/**
 * Silence with a full limit that is an outage before any attempt has timed out: this many round trips, or
 * this many ÷ limit, and at least this many ms. Raised, a short restart is noticed later; lowered, slow
 * answers interrupt the flow, for a probe a tenth of a second. `e^−10`: how seldom a single attempt of
 * exponential times is that slow; 200 ms: pauses of our own process.
 */
export const STALL_ROUND_TRIPS = 3;
export const STALL_ATTEMPTS = 10;
export const STALL_MIN_MS = 200;
/** Fraction of the old limit that is back with the first attempt served. Raised: may overload again. */
export const OUTAGE_RESUME = 0.7;

// --- Pace of starts, where the peer limits a rate ---------------------------------------------------

/** A cut goes to this fraction of the accepted rate. Raised: the next rejection comes sooner. Tuned. */
export const PACE_MARGIN = 0.9;
/** The accepted rate counts as this fraction of the pace at least: it may be low for lack of demand. */
export const PACE_CUT_MAX = 0.5;
/** Least and most relative growth a step near the last cut, and far from it. Tuned. */
export const PACE_STEP_MIN = 0.01;
export const PACE_STEP_MAX = 0.1;
export const PACE_STEP_FAR = 0.4;
/** Farther from the last cut than this fraction of it is far. */
export const PACE_FAR = 0.3;
/** Time between steps, in ms: most quotas are counted by the second. */
export const PACE_STEP_MS = 1000;
/** Near the last cut the pace grows by one more in flight every this many round trips. */
export const PACE_STEP_ROUND_TRIPS = 20;
/** From this fraction of where it was cut on, the pace is back there. */
export const PACE_BACK = 0.95;
/** Growth waits until losses since the cut are at most this fraction of starts, at most this long. */
export const PACE_LOSSES = 0.05;
export const PACE_LOSSES_WAIT_MAX_MS = 30_000;
/** A pace that has blocked no start for this long ends, in ms. */
export const PACE_UNUSED_MS = 2000;
/** Longest pause between two starts, in ms. */
export const PACE_PAUSE_MAX_MS = 2000;
/** How late a start may be without being lost, in ms: what late timers cost. */
export const PACE_CATCH_UP_MS = 20;

/** Largest `maxLimit`: higher ones would only cost memory. */
export const LIMIT_MAX = 1_000_000;
