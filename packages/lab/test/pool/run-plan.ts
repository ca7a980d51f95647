import type { Random } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { PoolSimulation } from "@sluice/lab/sim";
import type { PoolEvent, ProcessWatcher } from "@sluice/lab/sim";
import type { Plan } from "./plan.ts";
import { fail, Violation, Watch } from "./watch.ts";

/** How a run went. */
export interface Outcome {
  /** Undefined if all promises were kept. */
  readonly violation: string | undefined;
  /** Every grant: when, who, how many. */
  readonly trace: readonly string[];
}

/** Tokens that must be possible while the settled pool is watched. */
const TOKENS_MIN = 15;
const USED_MIN = 0.97;
/** So far apart two clocks run at most, as a part of the time. */
const DRIFT = 0.0002;

/** Runs a plan and checks every promise after every event; then lets the pool come to rest. */
export function runPlan(plan: Plan, isTraced = false): Outcome {
  const { rules, weather, seed, events } = plan;
  const { timing } = rules.membership;
  let isCalm = false;
  const wayMs = (random: Random): number | undefined => {
    const [loss, slow, way] = [random.next(), random.next(), random.next()];
    if (isCalm) return 1 + way;
    if (loss < weather.lossRatio) return undefined;
    return slow < weather.slowRatio ? way * weather.slowMs : 1 + way;
  };
  const lagMs = (random: Random): number => {
    const [late, by] = [random.next(), random.next()];
    return late < weather.lateRatio && !isCalm ? by * weather.lateMs : by;
  };
  const watch = new Watch(rules, weather.lateMs + weather.slowMs);
  const trace: string[] = [];
  const watcher: ProcessWatcher = !isTraced
    ? watch
    : {
        onSent: (...all) => watch.onSent(...all),
        onDue: (...all) => watch.onDue(...all),
        onReply: (...all) => watch.onReply(...all),
        onGrant: (process, count) => {
          trace.push(`${loop.now().toFixed(3)} ${process.name} ${count}`);
          watch.onGrant(process, count);
        },
      };
  const simulation = new PoolSimulation({
    rules: { ...rules, lagMs },
    network: { wayMs, isOrdered: weather.isOrdered },
    seed,
    watcher,
    clockOf: (random) => ({
      startMs: Math.floor(random.next() * 1e6),
      rate: 1 + (random.next() - 0.5) * DRIFT,
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
  // What is under way when the faults are over still arrives, and somebody may be late once more.
  const { staleMs, leaseMs, syncIntervalMs } = timing;
  const fromMs = calmAtMs + weather.slowMs + weather.lateMs;
  const settledAtMs = fromMs + staleMs + leaseMs + 4 * syncIntervalMs;
  const watchedMs =
    SECOND_MS * Math.max(1, Math.ceil(TOKENS_MIN / Math.max(1, rules.rateLimit.max)));
  let grantedBefore = 0;
  loop.at(settledAtMs, () => {
    watch.checkSettled();
    grantedBefore = watch.granted;
  });
  loop.at(settledAtMs + watchedMs, () => {
    watch.checkSettled();
    checkUse(plan, simulation, { granted: watch.granted - grantedBefore, watchedMs });
  });
  try {
    loop.run(
      settledAtMs + watchedMs + 1,
      () => {},
      () => false,
    );
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { violation: `after ${(loop.now() / SECOND_MS).toFixed(3)} s ${error.message}`, trace };
  }
  return { violation: undefined, trace };
}

/** I9: what all want is used, also where a share is less than a token. */
function checkUse(
  { rules, events }: Plan,
  { members }: PoolSimulation,
  { granted, watchedMs }: { readonly granted: number; readonly watchedMs: number },
): void {
  const live = members.filter(({ isLive }) => isLive).length;
  const areAllAsking = events.every(
    ({ action }) => action.do !== "join" || action.asksPerSecond === undefined,
  );
  if (live === 0 || !areAllAsking) return;
  const { max } = rules.rateLimit;
  // By epochs the first and the last may be cut off.
  const cut = rules.pacing === "epoch" ? max : 0;
  const least = (USED_MIN * max * watchedMs) / SECOND_MS - live - cut;
  if (granted < least)
    fail("I9", `${granted} tokens granted in ${watchedMs} ms, not ${least.toFixed(1)}`);
}

function endOf({ atMs, action }: PoolEvent): number {
  return "forMs" in action ? atMs + action.forMs : atMs;
}
