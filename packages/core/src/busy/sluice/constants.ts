/**
 * The numbers of the rule. Unless another origin is given they were chosen by simulation: one to forty
 * clients, 2 to 10,000 requests per second, round trips of 1 ms to 2 s, and services that accept evenly,
 * count by the second, refuse at random or fail. "Without it" tells what the simulation then shows.
 *
 * A ratio is a part of all answers, a step a part of the rate.
 */

// How far a cut goes.

/**
 * Requests per second that are always allowed, so that a recovery is seen. Raised, a dead peer
 * gets more.
 */
export const RATE_MIN = 1;
/**
 * The part of the rate that a cut leaves at least. Raised, it takes longer to get down to a peer
 * that accepts little; at 0, a peer that counts by the second is used 16 % less.
 */
export const CUT_MAX = 0.5;
/**
 * The part of what was accepted that a cut leaves. Raised, less headroom is left: at 1, 18 % more
 * busy answers.
 */
export const MARGIN = 0.98;

// Pacing.

/**
 * How late a request may be sent without being lost, in ms. Raised, bursts grow; at 0, late timers
 * cost rate. Timers of Node are rarely later.
 */
export const CATCH_UP_MS = 20;
/**
 * Requests at once after a quiet time, at slow rates. Raised, bursts grow; at 1, irregular callers
 * lose rate: 21 % less is used at 5 per second.
 */
export const BURST_MIN = 2;

// The way back to the last good rate, and climbs beyond it.

/**
 * From this part of the last good rate on, probes are climbs. Raised, more of the way back is
 * doubled, and a peer that accepts less than before is overshot by more.
 */
export const NEAR = 0.9;
/**
 * First step of a climb. Raised, a climb costs more busy answers; lowered, recovery takes longer.
 */
export const STEP = 0.02;
/**
 * First step at most where EXTRA_NEAR requests in the shortest probe would be more. Raised, slow
 * peers see more busy answers.
 */
export const STEP_SHORT_MAX = 0.05;
/**
 * First step at most where EXTRA_NEAR requests per second would be more. Raised, the slowest peers
 * see more busy answers.
 */
export const STEP_SLOW_MAX = 0.2;
/**
 * Largest step. Without it climbs overshoot: 8 % less is used of a peer that counts by the second.
 */
export const STEP_MAX = 0.25;
/**
 * Age of a climb from which steps double, in ms: quotas are often counted by the second. At 0: 31
 * % more busy answers.
 */
export const CAREFUL_MS = 1000;
/**
 * A climb that fails in a larger step than this makes up for its gain by doubling. Without it a
 * client that waits out its pauses uses 6 % less after a recovery.
 */
export const STEP_LARGE = 0.1;
/**
 * More of the rate than this must be used, or a probe says nothing. Raised, callers that pause
 * recover later; at 0, a quiet caller climbs blindly.
 */
export const USED = 0.5;
/**
 * Part of the first demand that must be sent again, with room to spare, to end the limit. Lowered,
 * a quieter demand ends it.
 */
export const RECOVERED = 0.95;

// Probes.

/**
 * Shortest and longest probe, in ms; a round trip between. Raised, each step takes longer; without
 * the longest, 8 % less is used at round trips of 2 s.
 */
export const PROBE_MIN_MS = 100;
export const PROBE_MAX_MS = 500;
/**
 * Requests that a probe has beyond the known rate: on the way back, and in a climb. Raised, slow
 * peers recover later; at 0, probes of a slow peer send nothing more and recovery from an outage
 * fails.
 */
export const EXTRA_FAR = 1.5;
export const EXTRA_NEAR = 2;
/**
 * Ratio of busy answers that an accepted probe may have. Raised, climbs cost more; at 0, large
 * flows stop at one busy answer.
 */
export const PROBE_BUSY_RATIO = 0.005;
/**
 * A probe without answers ends this much after its time, in ms and in round trips. Raised, a
 * silent peer gets more for longer; lowered, slow answers are taken for none.
 */
export const GRACE_MS = 1000;
export const GRACE_ROUND_TRIPS = 3;

// Giving way before a climb.

/**
 * The rate falls by this many times the busy ratio. Raised, less is used; at 0, two clients get a
 * fifth more busy answers and share less evenly.
 */
export const GIVE_WAY = 4;
/**
 * The most that the rate falls by. Raised, a slow flow with two busy answers collapses: a quarter
 * less is sent.
 */
export const GIVE_WAY_MAX = 0.1;

// Cool-downs.

/** Shortest cool-down, in ms. Raised, recovery takes longer. */
export const COOL_DOWN_MIN_MS = 250;
/**
 * What a cool-down grows by at most, in ms, and the length of an overload at which it has grown by
 * half of that.
 */
export const COOL_DOWN_MORE_MS = 2500;
export const COOL_DOWN_HALF_MS = 200_000;
/**
 * What climbing may cost: a ratio of busy answers, or busy answers per second where that is more.
 * Raised, climbs follow sooner: without a bound 88 % more busy answers.
 */
export const COST_RATIO = 0.005;
export const COST_PER_SECOND = 0.2;
/**
 * Busy answers to requests sent this long after a climb are its cost, in ms: peers that count by
 * the second refuse until the second ends.
 */
export const AFTERMATH_MS = 1000;
/**
 * A cool-down for the cost of a climb is this long at most, in ms, and after costly climbs in a
 * row. Raised, returned capacity is found later; with 4 s throughout, 17 % more busy answers.
 */
export const COST_COOL_DOWN_MS = 4000;
export const COST_COOL_DOWN_MAX_MS = 30_000;

// Evidence of overload.

/**
 * Ratio of busy answers that is tolerated: a large flow always has some. Raised, overload is found
 * later. From the goal: at most 1 % of what is sent.
 */
export const TOLERATED_RATIO = 0.01;
/**
 * Busy answers that a suspicion needs. Raised, slow flows are cut later; lowered, two unlucky
 * answers cut them.
 */
export const BUSY_MIN = 3;
/** Busy answers that a busy ratio needs: of one, no ratio can be estimated. */
export const RATIO_BUSY_MIN = 2;
/**
 * Half a window: its least length in ms and answers, and its greatest length in ms. Raised,
 * overload is found later, and in slower flows.
 */
export const HALF_MIN_MS = 500;
export const HALF_MIN_ANSWERS = 50;
export const HALF_MAX_MS = 5000;
/**
 * A sample ends with this many answers and a round trip, or after this long in ms with fewer.
 * Raised, a cut comes later and is more precise.
 */
export const SAMPLE_ANSWERS = 30;
export const SAMPLE_MS = 1000;
export const SAMPLE_SLOW_ANSWERS = 10;

// Busy answers that do not depend on the rate.

/** Largest such ratio. Raised, overload is taken for it: at 1, eighteen times the busy answers. */
export const RANDOM_RATIO_MAX = 0.3;
/**
 * How long a ratio is believed, in ms. Raised, a later overload is found later; lowered, the cuts
 * are tried again more often.
 */
export const RANDOM_VALID_MS = 30_000;
/**
 * Cuts in a row that must have changed nothing. Raised, more is lost to vain cuts; at 1, other
 * clients' load is taken for random.
 */
export const VAIN_CUTS = 2;
/**
 * Busy answers before and after a cut that are needed to judge it: the standard deviation of 16 is
 * a quarter. Raised, only larger flows profit.
 */
export const TRIAL_BUSY_MIN = 16;
/**
 * A cut is judged this much after it at the earliest, in ms and in round trips, and at the latest,
 * in ms.
 */
export const TRIAL_MIN_MS = 250;
export const TRIAL_ROUND_TRIPS = 4;
export const TRIAL_MAX_MS = 3000;
/**
 * A cut has helped if of this many expected busy answers, or more, less than a quarter came.
 * Raised, growth after a cut begins later.
 */
export const HELPED_OF = 8;
/**
 * Standard deviations by which a ratio must fall, or rise, to count as changed. Raised, overload
 * is more often taken for random.
 */
export const FEWER_DEVIATIONS = 1;
export const MORE_DEVIATIONS = 3;
