import { ConfigError } from "@sluice/core";
import { KINDS } from "../kind/kinds.ts";
import { parseScenarioDocument } from "./document.ts";
import type { Path } from "./document.ts";
import { show } from "./fields.ts";
import type { Problem, Scenario } from "./kind.ts";

/**
 * Checks the text of a scenario file, YAML or JSON. What is wrong comes as a `ConfigError` whose
 * message is one line: file, line, what was found, what would be right.
 */
export function loadScenario(text: string, file: string): Scenario {
  const document = parseScenarioDocument(text, file);
  const checked = check(document.value);
  if (!Array.isArray(checked)) return checked;
  const problems = checked.filter(({ isMissing }) => !isMissing);
  const located = firstOfLists(problems.length > 0 ? problems : checked).map((problem) => ({
    message: `${nameOf(problem.path)} ${problem.message}`,
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

/** Without those that stand behind another in the same list: only one problem is told. */
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

/** A path as a person writes it: calls[3].use. Odd keys are quoted, so that it stays on a line. */
function nameOf(path: Path): string {
  if (path.length === 0) return "the scenario";
  return path
    .map((segment) => {
      if (typeof segment === "number") return `[${segment}]`;
      return /^[\w-]{1,60}$/.test(segment) ? `.${segment}` : `[${show(segment)}]`;
    })
    .join("")
    .replace(/^\./, "");
}
