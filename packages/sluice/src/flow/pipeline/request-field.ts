import {
  described,
  duration,
  either,
  field,
  lineOfText,
  map,
  oneOf,
  record,
  whole,
} from "@sluice/lab/file";
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
  readonly rates?: Readonly<Record<string, string>> | undefined;
  readonly cost?: Readonly<Record<string, number | "messages">> | undefined;
  readonly busy?: { readonly rule: "sluice" | "table" | "prose" | "off" } | undefined;
  readonly timeout?: number | undefined;
  readonly attempts?: number | undefined;
}

const CONCURRENCY_MAX = 100_000;
/** As of a gate. */
const COST_MAX = 100_000_000;

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

const cost = field<number | "messages">(
  (value) =>
    value === "messages" ||
    (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= COST_MAX),
  "a whole number from 0 to 100000000, or messages",
  { anyOf: [{ const: "messages" }, { type: "integer", minimum: 0, maximum: COST_MAX }] },
);

const request = map({
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
  rates: v.optional(
    described(
      record(lineOfText(), rate, "rates by name, such as { requests: 500/min }"),
      "Several rates by name that hold at once, instead of rate, such as { requests: 500/min, tokens: 200000/min }.",
    ),
  ),
  cost: v.optional(
    described(
      record(lineOfText(), cost, "costs by name, such as { tokens: 1200 }"),
      "What one request takes of the rates, by their names: a number, or messages for their count. Default: 1 of each.",
    ),
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

export const requestField: v.GenericSchema<unknown, RequestBlock> = v.pipe(
  request,
  v.check<RequestBlock, string>(
    ({ rate: one, rates }) => one === undefined || rates === undefined,
    "has rate and rates; put the rate among the rates, with a name",
  ),
  v.check<RequestBlock, (issue: v.CheckIssue<RequestBlock>) => string>(
    (block) => unknownCosts(block).length === 0,
    ({ input }) => {
      const names = Object.keys(input.rates ?? {}).join(", ");
      return `has a cost of ${unknownCosts(input).join(", ")}; expected names of its rates: ${names || "none are set"}`;
    },
  ),
);

function unknownCosts({ rates = {}, cost: costs = {} }: RequestBlock): readonly string[] {
  return Object.keys(costs).filter((name) => !Object.hasOwn(rates, name));
}
