import { ConfigError } from "@sluice/core";
import { KINDS } from "../kind/kinds.ts";
import { parseFileDocument } from "../file/document.ts";
import type { Path } from "../file/path.ts";
import { show } from "../file/fields.ts";
import { placeName } from "../file/problem.ts";
import type { Problem } from "../file/problem.ts";
import type { Scenario } from "./kind.ts";

/**
 * Checks the text of a scenario file, YAML or JSON, and returns it ready to run with `simulate`.
 *
 * @param text the content of the file
 * @param file its name, for error messages only
 * @throws ConfigError with one line: file, line, what was found and what is expected
 * @example
 * const scenario = loadScenario(await readFile("burst.yaml", "utf8"), "burst.yaml");
 * const { result } = await simulate(scenario);
 */
export function loadScenario(text: string, file: string): Scenario {
  const document = parseFileDocument(text, file);
  const checked = check(document.value);
  if (!Array.isArray(checked)) return checked;
  const problems = checked.filter(({ isMissing }) => !isMissing);
  const located = firstOfLists(problems.length > 0 ? problems : checked).map((problem) => ({
    message: `${placeName(problem.path, "the scenario")} ${problem.message}`,
    line: document.lineOf(problem.path),
  }));
  const earliest = located.reduce((a, b) => (b.line < a.line ? b : a));
  throw new ConfigError(earliest.message, { file, line: earliest.line });
}

function check(value: unknown): Scenario | Problem[] {
  const kinds = [...KINDS.keys()].join(", ");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const found = value === null ? "empty" : show(value);
    return wrong([], `is ${found}; expected a map that begins with kind: (${kinds})`);
  }
  const name: unknown = Object.hasOwn(value, "kind")
    ? (value as { kind: unknown }).kind
    : undefined;
  const kind = typeof name === "string" ? KINDS.get(name) : undefined;
  if (kind === undefined) return wrong(["kind"], `is ${show(name)}; expected one of ${kinds}`);
  return kind(value);
}

function wrong(path: Path, message: string): Problem[] {
  return [{ path, message, isMissing: false }];
}

/** Keeps the first problem of each list. Only the earliest in the file is reported in the end. */
function firstOfLists(problems: readonly Problem[]): Problem[] {
  const lists = new Set<string>();
  return problems.filter(({ path }) => {
    const index = path.findIndex((segment) => typeof segment === "number");
    if (index === -1) return true;
    const list = JSON.stringify(path.slice(0, index));
    const isFirst = !lists.has(list);
    lists.add(list);
    return isFirst;
  });
}
