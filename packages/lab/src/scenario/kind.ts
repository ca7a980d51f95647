import * as v from "valibot";
import type { Chart } from "../chart/chart.ts";
import type { Path } from "./path.ts";
import { expectations } from "./expect.ts";
import type { Expectations } from "./expect.ts";
import { lineOfText, map, text, whole } from "./fields.ts";

/** One line of a result, as its kind defines it. */
export type Row = object;

/** What a run shows: rows for machines, columns of text for people, a chart for both. */
export interface Run {
  readonly rows: readonly Row[];
  readonly stats?: object;
  readonly verdict?: Readonly<Record<string, unknown>>;
  readonly columns: readonly Column[];
  /** A sentence that ends the table. */
  readonly closing?: string;
  readonly chart: () => Chart;
}

export interface Column {
  readonly name: string;
  /** What stands in a row, by its index. */
  readonly cell: (row: number) => string;
}

/** A scenario that was found right and can be run. */
export interface Scenario {
  readonly kind: string;
  readonly title: string;
  readonly expect: Expectations;
  readonly run: () => Run;
}

/** What is wrong with a scenario: where it stands, and what would be right. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
  /** Nothing stands there: often because a key nearby is misspelt, and then that says more. */
  readonly isMissing: boolean;
}

/** One kind of scenario: checks what a file says, and knows how to run it. */
export type Kind = (value: unknown) => Scenario | Problem[];

/** The keys that a scenario of any kind may have. */
interface CommonKeys {
  readonly kind: string;
  readonly title: string;
  readonly seed: number;
  readonly expect: Expectations;
}

const commonKeys = {
  kind: text(),
  title: v.optional(lineOfText(), ""),
  seed: v.optional(whole(0), 1),
  expect: v.optional(expectations(), {}),
};

/** A kind with these keys beside the common ones. `check` finds what only several keys tell. */
export function defineKind<T>(
  keys: { readonly [K in keyof T]: v.GenericSchema<unknown, T[K]> },
  run: (scenario: T & CommonKeys) => Run,
  check: (scenario: T & CommonKeys) => Problem[] = () => [],
): Kind {
  const entries: v.ObjectEntries = { ...commonKeys, ...keys };
  const schema = map(entries);
  return (value) => {
    const checked = v.safeParse(schema, value);
    if (!checked.success) return checked.issues.map(toProblem);
    const scenario = checked.output as T & CommonKeys;
    const problems = check(scenario);
    if (problems.length > 0) return problems;
    const { kind, title, expect } = scenario;
    return { kind, title, expect, run: () => run(scenario) };
  };
}

function toProblem(issue: v.BaseIssue<unknown>): Problem {
  const path = (issue.path ?? []).map(({ key }) => key as string | number);
  return { path, message: issue.message, isMissing: issue.received === "undefined" };
}
