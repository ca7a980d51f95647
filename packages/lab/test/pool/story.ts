import type { PoolEvent } from "@sluice/lab/sim";
import type { Plan } from "./plan.ts";
import { runPlan } from "./run-plan.ts";

/** Leaves out events, and faults of the network, as long as a promise is still broken. */
function shrinkPlan(plan: Plan): Plan {
  let smallest = plan;
  const calmer = { lossRatio: 0, slowRatio: 0, lateRatio: 0, isOrdered: true, drift: 1 };
  for (const [key, value] of Object.entries(calmer)) {
    const candidate = { ...smallest, weather: { ...smallest.weather, [key]: value } };
    if (isBroken(candidate)) smallest = candidate;
  }
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const event of smallest.events) {
      const candidate = { ...smallest, events: smallest.events.filter((each) => each !== event) };
      if (!isBroken(candidate)) continue;
      smallest = candidate;
      isSmaller = true;
    }
  }
  return smallest;
}

/** A broken promise as a story, as short as it could be made. */
export function storyOf(plan: Plan): string {
  const smallest = shrinkPlan(plan);
  const { seed, rules, membership, weather, events } = smallest;
  return [
    `seed ${seed}: ${runPlan(smallest).violation}`,
    `rules ${JSON.stringify({ ...rules, ...membership })}`,
    `weather ${JSON.stringify(weather)}`,
    ...events.map(lineOf),
  ].join("\n");
}

function lineOf({ atMs, action }: PoolEvent): string {
  const { do: what, ...rest } = action;
  return `${(atMs / 1000).toFixed(3).padStart(8)} s  ${what} ${JSON.stringify(rest)}`;
}

function isBroken(plan: Plan): boolean {
  return runPlan(plan).violation !== undefined;
}
