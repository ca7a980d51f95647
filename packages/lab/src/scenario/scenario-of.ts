import { ConfigError } from "@sluice/core";
import type { FileDocument } from "../file/document.ts";
import { show } from "../file/show.ts";
import type { Path } from "../file/path.ts";
import { placeName } from "../file/problem.ts";
import type { Problem } from "../file/problem.ts";
import type { Kind, Scenario } from "./kind.ts";

/** Kinds of scenarios, by their names in files. */
export interface Kinds {
  readonly names: readonly string[];
  readonly get: (name: string) => Kind | undefined;
}

/**
 * The scenario that a document describes.
 *
 * @throws ConfigError for the earliest mistake: its line, what was found and what is expected
 */
export function scenarioOf(document: FileDocument, file: string, kinds: Kinds): Scenario {
  const checked = check(document.value, kinds);
  if (!Array.isArray(checked)) return checked;
  const problems = checked.filter(({ isMissing }) => !isMissing);
  const located = firstOfLists(problems.length > 0 ? problems : checked).map((problem) => ({
    message: `${placeName(problem.path, "the scenario")} ${problem.message}`,
    line: document.lineOf(problem.path),
  }));
  const earliest = located.reduce((a, b) => (b.line < a.line ? b : a));
  throw new ConfigError(earliest.message, { file, line: earliest.line });
}

function check(value: unknown, all: Kinds): Scenario | Problem[] {
  const kinds = all.names.join(", ");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const found = value === null ? "empty" : show(value);
    return wrong([], `is ${found}; expected a map that begins with kind: (${kinds})`);
  }
  const name = kindNameOf(value);
  const kind = name === undefined ? undefined : all.get(name);
  if (kind === undefined)
    return wrong(["kind"], `is ${show(kindIn(value))}; expected one of ${kinds}`);
  return kind(value);
}

/** What a document says that it is; undefined if it does not. */
export function kindNameOf(value: unknown): string | undefined {
  const name = kindIn(value);
  return typeof name === "string" ? name : undefined;
}

function kindIn(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "kind"))
    return undefined;
  return (value as { readonly kind: unknown }).kind;
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
