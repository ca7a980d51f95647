import { CHURN_STORIES, LARGEST_POOL_STORY, missedGoals, worstOf } from "@sluice/lab/sim";
import type { ChurnFigures, ChurnGoals, ChurnStory } from "@sluice/lab/sim";
import { machineLine, thisMachine } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { table } from "../table.ts";

/** Runs of each story, with other instants in each; the worst figures count. */
const PHASES = 12;
const PHASES_QUICK = 3;

interface Result {
  readonly story: ChurnStory;
  readonly figures: ChurnFigures;
  readonly missed: readonly string[];
}

/** How much of the ceiling is in use while processes come and go, in virtual time; the text to print. */
export function benchChurn({ quick, json }: BenchOptions): Promise<string> {
  const phases = quick ? PHASES_QUICK : PHASES;
  const results = CHURN_STORIES.map((story) => measure(story, phases));
  // The largest pool takes as long as all others together.
  if (!quick) results.push(measure(LARGEST_POOL_STORY, 1));
  const machine = thisMachine();
  if (json) {
    const stories = results.map(({ story, figures, missed }) => {
      return { name: story.name, goals: story.goals, simulated: figures, missed };
    });
    return Promise.resolve(JSON.stringify({ bench: "churn", machine, phases, stories }));
  }
  const heading = ["story", "most", "least", "mean", "wait, s", "whole after, s", "goals"];
  const note = `Sums of shares as parts of the ceiling; the worst of ${phases} runs each, simulated. Goals in brackets.`;
  return Promise.resolve(
    `${machineLine(machine)}\n\n${note}\n\n${table(heading, results.map(rowOf))}`,
  );
}

function measure(story: ChurnStory, phases: number): Result {
  console.error(story.name);
  const figures = worstOf(story, phases);
  return { story, figures, missed: missedGoals(story, figures) };
}

function rowOf({ story, figures, missed }: Result): string[] {
  const { name, goals } = story;
  const cell = (key: keyof ChurnGoals, digits: number, sign: string): string => {
    const goal = key === "most" ? (goals.most ?? 1) : goals[key];
    const found = figures[key].toFixed(digits);
    return goal === undefined ? found : `${found} (${sign} ${Number(goal.toFixed(digits))})`;
  };
  return [
    name,
    cell("most", 3, "≤"),
    cell("least", 3, "≥"),
    cell("mean", 3, "≥"),
    cell("waitS", 1, "≤"),
    cell("wholeS", 1, "≤"),
    missed.length === 0 ? "met" : "missed",
  ];
}
