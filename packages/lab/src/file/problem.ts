import type * as v from "valibot";
import { show } from "./show.ts";
import type { Path } from "./path.ts";

/** A mistake in a file: its place, and a message that says what was found and what is expected. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
  /** The key is missing. Often another key is misspelt; that problem then says more. */
  readonly isMissing: boolean;
}

export function toProblem(issue: v.BaseIssue<unknown>): Problem {
  const path = (issue.path ?? []).map(({ key }) => key as string | number);
  return { path, message: issue.message, isMissing: issue.received === "undefined" };
}

/** A place in a file in words; `whole` names the file's content. Always on one line. */
export function placeName(path: Path, whole: string): string {
  if (path.length === 0) return whole;
  return path
    .map((segment) => {
      if (typeof segment === "number") return `[${segment}]`;
      return /^[\w-]{1,60}$/.test(segment) ? `.${segment}` : `[${show(segment)}]`;
    })
    .join("")
    .replace(/^\./, "");
}
