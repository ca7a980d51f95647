import type { Random } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { PoolSimulation, SluiceProtocol } from "@sluice/lab/sim";
import type { PoolEvent, ProcessWatcher, SluiceParts } from "@sluice/lab/sim";
import type { Plan } from "./plan.ts";
import { fail, Violation, Watch } from "./watch.ts";

/** How a run went. */
export interface Outcome {
  /** Undefined if all promises were kept. */
  readonly violation: string | undefined;
  /** The largest sum of shares, as a part of the ceiling. */
  readonly most: number;
  /** The longest wait of the joiners that are timed, how many there were, and the longest time without any share. */
  readonly waitMs: number;
  readonly timed: number;
  readonly zeroMs: number;
  /** Every grant: when, by which process, how many tokens. */
  readonly trace: readonly string[];
}

/** Tokens that must be possible while the settled pool is watched, so that a share below a token counts too. */
const TOKENS_MIN = 15;
/** The part of the ceiling that a settled pool in which all ask for all must use. */
const USED_MIN = 0.95;

interface RunOptions {
  readonly isTraced?: boolean;
  readonly parts?: SluiceParts;
  readonly delay?: Delay | undefined;
}

/** Delays one message of the first process: the request, or its reply, of the sync that is sent in this time. */
interface Delay {
  readonly message: "request" | "reply";
  readonly fromMs: number;
  readonly untilMs: number;
  readonly byMs: number;
}

/** Runs a plan and checks every promise after every event; then waits until the pool must have settled. */
export function runPlan(plan: Plan, { isTraced = false, parts, delay }: RunOptions = {}): Outcome {
  const { rules, membership, weather, seed, events } = plan;
  let isCalm = false;
  let firstProcess: Random | undefined;
  let sentInTime = 0;
  const isDelayedAt = (nowMs: number): boolean => {
    if (delay === undefined || nowMs < delay.fromMs || nowMs > delay.untilMs) return false;
    return ++sentInTime === (delay.message === "request" ? 1 : 2);
  };
  const wayMs = (random: Random): number | undefined => {
    const [loss, slow, way] = [random.next(), random.next(), random.next()];
    firstProcess ??= random;
    const isDelayed = random === firstProcess && isDelayedAt(loop.now());
    if (isDelayed) return delay?.byMs;
    if (isCalm) return 1 + way;
    if (loss < weather.lossRatio) return undefined;
    return slow < weather.slowRatio ? way * way * weather.slowMs : 1 + way;
  };
  const lagMs = (random: Random): number => {
    const [late, by] = [random.next(), random.next()];
    return late < weather.lateRatio && !isCalm ? by * weather.lateMs : by;
  };
  const watch = new Watch(plan);
  const trace: string[] = [];
  const watcher: ProcessWatcher = {
    onChange: () => watch.onChange(),
    onGrant: (process, count) => {
      if (isTraced) trace.push(`${loop.now().toFixed(3)} ${process.name} ${count}`);
      watch.onGrant(process, count);
    },
  };
  const simulation = new PoolSimulation({
    rules: { ...rules, lagMs },
    protocol: (store) => new SluiceProtocol(store, membership, parts),
    network: { wayMs, isOrdered: weather.isOrdered },
    seed,
    watcher,
    clockOf: (random) => ({
      startMs: Math.floor(random.next() * 1e6),
      rate: weather.drift ** (2 * random.next() - 1),
    }),
  });
  const { loop } = simulation;
  watch.attach(simulation);
  for (const { atMs, action } of events)
    loop.at(atMs, () => {
      simulation.perform(action);
      watch.look();
    });
  const calmAtMs = events.reduce((last, event) => Math.max(last, endOf(event)), 0);
  loop.at(calmAtMs, () => (isCalm = true));
  const settledAtMs = calmAtMs + settlingMs(plan);
  const ceilings = [rules.rateLimit, ...events.map(({ action }) => action)].map((each) =>
    "max" in each ? each.max : each.do === "limits" ? each.rateLimit.max : Infinity,
  );
  const watchedMs = SECOND_MS * Math.max(1, Math.ceil(TOKENS_MIN / Math.min(...ceilings)));
  let grantedBefore = 0;
  loop.at(settledAtMs, () => {
    watch.checkSettled();
    grantedBefore = watch.granted;
  });
  loop.at(settledAtMs + watchedMs, () => {
    watch.checkSettled();
    checkUse(plan, simulation, { granted: watch.granted - grantedBefore, watchedMs });
  });
  const outcome = (violation: string | undefined): Outcome => {
    const { most, waitMs, timed, zeroMs } = watch;
    return { violation, most, waitMs, timed, zeroMs, trace };
  };
  try {
    simulation.runUntil(settledAtMs + watchedMs);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return outcome(`after ${(loop.now() / SECOND_MS).toFixed(3)} s ${error.message}`);
  }
  return outcome(undefined);
}

/** What is under way when the faults are over still arrives; then a stale age, learning and a hand-over. */
function settlingMs({ weather, membership }: Plan): number {
  const { staleMs, leaseMs, syncIntervalMs, timeoutMs } = membership.timing;
  const learningMs = 1.05 * leaseMs + syncIntervalMs + timeoutMs;
  const boundMs = staleMs + learningMs + 8 * syncIntervalMs;
  return weather.slowMs + weather.lateMs + weather.drift * boundMs;
}

/** If all processes ask for all that they can get, the ceiling is used, also where a share is less than a token. */
function checkUse(
  { rules }: Plan,
  { processes }: PoolSimulation,
  { granted, watchedMs }: { readonly granted: number; readonly watchedMs: number },
): void {
  const live = processes.filter(({ isLive }) => isLive);
  if (live.length === 0 || live.some(({ asksPerSecond }) => asksPerSecond !== undefined)) return;
  const max = Math.min(...live.map(({ ceiling }) => ceiling));
  // With epochs the first and the last may be cut off.
  const cut = rules.pacing === "epoch" ? max : 0;
  const least = (USED_MIN * max * watchedMs) / SECOND_MS - live.length - cut;
  if (granted < least)
    fail(`${granted} tokens were granted in ${watchedMs} ms, not ${least.toFixed(1)}`);
}

function endOf({ atMs, action }: PoolEvent): number {
  if ("forMs" in action) return atMs + action.forMs;
  return action.do === "failover" ? atMs + action.lagMs : atMs;
}
