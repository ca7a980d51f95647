import { ConfigError } from "./errors.ts";
import { REASONS } from "./reason.ts";
import type { Reason } from "./reason.ts";

/** Whether something was admitted and, if it was refused, by which limit. */
export type Admission =
  | { readonly ok: true; readonly reason: undefined }
  | { readonly ok: false; readonly reason: Reason };

/** The one answer to everything that was admitted: answers are shared, so a call allocates none. */
export const ADMITTED: Admission = Object.freeze({ ok: true, reason: undefined });

const REFUSALS = new Map<Reason, Admission>(
  REASONS.map((reason) => [reason, Object.freeze({ ok: false, reason })]),
);

/** The one answer to everything that was refused for `reason`. */
export function refusal(reason: Reason): Admission {
  const answer = REFUSALS.get(reason);
  if (answer !== undefined) return answer;
  throw new ConfigError(`reason is ${reason}; it must be one of ${REASONS.join(", ")}`);
}
