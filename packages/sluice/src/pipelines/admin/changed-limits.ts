import { ConfigError } from "@sluice/core";
import { inheritRateLimit, readRateLimit } from "@sluice/fleet";
import { HttpError } from "@sluice/gateway/admin";
import type { FlowVertexLimits } from "../../flow/pipeline/flow-pipeline.ts";
import type { PipelineView } from "../pipeline-view.ts";

const RATE_KEYS = ["max", "min", "rampUpDuration"] as const;
const WHOLE_KEYS = ["concurrency", "readBatchSize"] as const;

/** The present limits with the fields of a body. */
export function changedLimits(
  body: unknown,
  view: Pick<PipelineView, "flow" | "state" | "limitsOf"> | undefined,
  vertex: string,
): FlowVertexLimits {
  const expected = `expected { max, min, rampUpDuration, concurrency, readBatchSize }, some of them`;
  if (typeof body !== "object" || body === null || Array.isArray(body) || view === undefined)
    throw new HttpError(400, `the body is no map; ${expected}`);
  const given = body as Readonly<Record<string, unknown>>;
  const known: readonly string[] = [...RATE_KEYS, ...WHOLE_KEYS];
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new HttpError(400, `${unknown} is not known; ${expected}`);
  if (Object.keys(given).length === 0) throw new HttpError(400, `the body is empty; ${expected}`);
  const present = view.limitsOf(vertex).limits;
  const rates = Object.fromEntries(
    RATE_KEYS.flatMap((key) => (key in given ? [[key, given[key]]] : [])),
  );
  const counts = Object.fromEntries(
    WHOLE_KEYS.flatMap((key) => {
      if (!(key in given)) return [];
      const value = given[key];
      if (typeof value !== "number" || !Number.isInteger(value) || value < 1)
        throw new HttpError(
          400,
          `${key} is ${JSON.stringify(value)}; expected a whole number from 1`,
        );
      return [[key, value]];
    }),
  );
  const rateLimit =
    Object.keys(rates).length === 0 ? present.rateLimit : { ...present.rateLimit, ...rates };
  const limits = { ...present, ...counts, ...(rateLimit !== undefined && { rateLimit }) };
  const whole = inheritRateLimit(view.flow.limits?.rateLimit, rateLimit);
  requireMinBelowMax(given, whole, `${view.state.name}/${vertex}`);
  requireReadable(whole);
  return limits;
}

/** A `min` that was not given comes from the flow file or from an earlier change, so the caller may not know of it. */
function requireMinBelowMax(
  given: Readonly<Record<string, unknown>>,
  rateLimit: { readonly max?: unknown; readonly min?: unknown } | undefined,
  name: string,
): void {
  const { max, min } = rateLimit ?? {};
  if ("min" in given || typeof max !== "number" || typeof min !== "number" || min <= max) return;
  // Refused by itself: no `min` makes it right.
  if (max < 1) return;
  throw new HttpError(
    400,
    `max is ${max}, below the min of ${min} that ${name} has already; set both: sluice limits set vertex ${name} max=${max} min=${max}`,
  );
}

function requireReadable(rateLimit: unknown): void {
  if (rateLimit === undefined) return;
  try {
    readRateLimit(rateLimit);
  } catch (error) {
    if (error instanceof ConfigError) throw new HttpError(400, error.message);
    throw error;
  }
}
