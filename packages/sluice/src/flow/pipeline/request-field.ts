import { described, duration, either, field, map, oneOf, whole } from "@sluice/lab/file";
import * as v from "valibot";

/** `request:` of an HTTP sink, in the words of the gate. */
export interface RequestBlock {
  readonly concurrency?:
    | "adaptive"
    | "none"
    | number
    | {
        readonly algorithm?: "sluice" | "vector" | "rfc" | undefined;
        readonly initial?: number | undefined;
        readonly max?: number | undefined;
      }
    | undefined;
  readonly rate?: string | undefined;
  readonly busy?: { readonly rule: "sluice" | "table" | "prose" | "off" } | undefined;
  readonly timeout?: number | undefined;
  readonly attempts?: number | undefined;
}

const CONCURRENCY_MAX = 100_000;

const fixed = field<"adaptive" | "none" | number>(
  (value) =>
    value === "adaptive" ||
    value === "none" ||
    (typeof value === "number" &&
      Number.isInteger(value) &&
      value >= 1 &&
      value <= CONCURRENCY_MAX),
  "adaptive, none, a whole number from 1, or { algorithm, initial, max }",
  { anyOf: [{ enum: ["adaptive", "none"] }, { type: "integer", minimum: 1 }] },
);

const adaptive = map({
  algorithm: v.optional(
    described(oneOf("sluice", "vector", "rfc"), "What finds the limit. Default: sluice."),
  ),
  initial: v.optional(
    described(whole(1, CONCURRENCY_MAX), "The limit before anything was measured. Default: 1."),
  ),
  max: v.optional(described(whole(1, CONCURRENCY_MAX), "The highest limit. Default: 200.")),
});

const rate = field<string>(
  (value) => typeof value === "string" && /^\d+\/(?:s|min|h)$/.test(value),
  "a rate with its period, such as 500/s or 10000/min",
  { type: "string", pattern: "^\\d+/(s|min|h)$" },
);

export const requestField: v.GenericSchema<unknown, RequestBlock> = map({
  concurrency: v.optional(
    described(
      either([fixed, adaptive], (value) =>
        typeof value === "object" && value !== null ? adaptive : fixed,
      ),
      "Requests in flight at once: adaptive finds it. Default: adaptive.",
    ),
  ),
  rate: v.optional(
    described(rate, "Requests of this process per time, such as 500/s. Default: not limited."),
  ),
  busy: v.optional(
    described(
      map({ rule: oneOf("sluice", "table", "prose", "off") }),
      "How the rate follows busy answers. Default: off with adaptive concurrency, else sluice.",
    ),
  ),
  timeout: v.optional(described(duration(), "The longest time of one attempt. Default: 30s.")),
  attempts: v.optional(
    described(
      whole(1, 100),
      "Attempts of one request, before the pipeline's own retries. Default: 1.",
    ),
  ),
});
