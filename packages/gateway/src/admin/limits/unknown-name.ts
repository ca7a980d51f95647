import { nearest } from "@sluice/core/internal";
import { HttpError } from "../http/http-error.ts";

/** Names of one answer. */
const NAMES_MAX = 20;

/** The answer to a name that nothing has, with the names that there are. */
export function nothingCalled(name: string, all: readonly string[]): HttpError {
  // A pipeline and the service of its sink may have one name.
  const known = [...new Set(all)];
  const meant = nearest(name, known);
  const more = known.length > NAMES_MAX ? ` and ${known.length - NAMES_MAX} more` : "";
  const there = known.length === 0 ? "nothing" : known.slice(0, NAMES_MAX).join(", ") + more;
  const guess = meant === undefined ? "" : `; did you mean ${meant}?`;
  return new HttpError(404, `nothing is called ${JSON.stringify(name)}${guess}; known is ${there}`);
}
