import { TokenBucket } from "@sluice/core";
import type { TokenBucketOptions } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";
import * as v from "valibot";
import { list, map, milliseconds, oneOf, real, whole } from "../scenario/fields.ts";
import { defineKind } from "../scenario/kind.ts";
import type { Kind, Run } from "../scenario/kind.ts";

type Step =
  | { readonly advanceMs: number }
  | { readonly repeat: number; readonly steps: readonly Step[] }
  | Operation;

type Operation =
  | { readonly op: "tokens" | "hasTokens" }
  | { readonly op: "charge" | "chargeAndCheck"; readonly n: number }
  | { readonly op: "pauseMs"; readonly until?: number | undefined }
  | { readonly op: "setRate"; readonly rate: number };

type Answer = number | boolean | undefined;

/** Steps that are run, repeats unrolled: enough for long runs, few enough to hold their rows. */
const MAX_STEPS = 5_000_000;

const OPERATIONS: Readonly<Record<Operation["op"], v.GenericSchema<unknown, Step>>> = {
  tokens: map({ op: v.literal("tokens") }),
  hasTokens: map({ op: v.literal("hasTokens") }),
  charge: map({ op: v.literal("charge"), n: whole(0) }),
  chargeAndCheck: map({ op: v.literal("chargeAndCheck"), n: whole(0) }),
  pauseMs: map({ op: v.literal("pauseMs"), until: v.optional(whole(0)) }),
  setRate: map({ op: v.literal("setRate"), rate: whole(1) }),
};

const unknownOperation = map({ op: oneOf(...(Object.keys(OPERATIONS) as Operation["op"][])) });

/** Chosen by the keys that a step has, so that an error speaks of that one form of step. */
const stepSchema: v.GenericSchema<unknown, Step> = v.lazy((value) => {
  if (typeof value !== "object" || value === null) return advance;
  if ("repeat" in value) return repeated;
  if (!("op" in value)) return advance;
  const known = Object.entries(OPERATIONS).find(([name]) => name === value.op);
  return known === undefined ? (unknownOperation as v.GenericSchema<unknown, Step>) : known[1];
});

const advance: v.GenericSchema<unknown, Step> = map({ advanceMs: real(0) });

const stepsSchema: v.GenericSchema<unknown, Step[]> = list(stepSchema, 1_000_000);

const repeated: v.GenericSchema<unknown, Step> = map({ repeat: whole(0), steps: stepsSchema });

export const bucketKind: Kind = defineKind(
  {
    bucket: map({
      rate: whole(1),
      periodMs: v.optional(milliseconds(1e-6)),
      capacity: v.optional(whole(1)),
      initialTokens: v.optional(whole(0)),
      targetTokens: v.optional(whole(0)),
      resolutionMs: v.optional(milliseconds(0)),
      maxDebt: v.optional(whole(0)),
    }) as v.GenericSchema<unknown, TokenBucketOptions>,
    steps: v.pipe(
      stepsSchema,
      v.check(
        (all) => countSteps(all) <= MAX_STEPS,
        `come to more than ${MAX_STEPS} with repeats unrolled; repeat fewer`,
      ),
    ),
  },
  ({ bucket: options, steps: program, title }): Run => {
    const rows: { step: number; op: string; value: number | boolean }[] = [];
    const trial = new Trial(options);
    trial.play(program, (op, value) => {
      if (value !== undefined) rows.push({ step: trial.step, op, value });
    });
    return {
      rows,
      columns: [
        { name: "step", cell: (row) => String(rows[row]?.step) },
        { name: "op", cell: (row) => rows[row]?.op ?? "" },
        { name: "value", cell: (row) => String(rows[row]?.value) },
      ],
      chart: () => ({
        title: title || "Token bucket",
        subtitle: `${options.rate} tokens per ${options.periodMs ?? 1000} ms`,
        x: { label: "time", unit: "ms" },
        y: { label: "balance", unit: "tokens" },
        series: [{ label: "balance", shape: "step", points: balances(options, program) }],
      }),
    };
  },
);

/** A bucket and the clock it stands by. */
class Trial {
  readonly clock = new VirtualClock();
  readonly bucket: TokenBucket;
  /** Steps run so far. */
  step = 0;

  constructor(options: TokenBucketOptions) {
    this.bucket = new TokenBucket({ ...options, clock: this.clock });
  }

  play(program: readonly Step[], onOperation: (op: string, answer: Answer) => void): void {
    for (const step of program) {
      if ("repeat" in step) {
        for (let i = 0; i < step.repeat; i++) this.play(step.steps, onOperation);
        continue;
      }
      this.step++;
      if ("advanceMs" in step) this.clock.advance(step.advanceMs);
      else onOperation(step.op, this.#perform(step));
    }
  }

  #perform(operation: Operation): Answer {
    switch (operation.op) {
      case "tokens":
        return this.bucket.tokens();
      case "hasTokens":
        return this.bucket.hasTokens();
      case "charge":
        this.bucket.charge(operation.n);
        return undefined;
      case "chargeAndCheck":
        return this.bucket.chargeAndCheck(operation.n);
      case "pauseMs":
        return operation.until === undefined
          ? this.bucket.throttlingDurationMs()
          : this.bucket.pauseMs(operation.until);
      case "setRate":
        this.bucket.setRate(operation.rate);
        return undefined;
    }
  }
}

/** The balance after every operation, nothing held back by the resolution. */
function balances(
  options: TokenBucketOptions,
  program: readonly Step[],
): { x: number; y: number }[] {
  // Looking at a bucket refills it, which moves its resolution window; so a second run is looked at.
  const trial = new Trial({ ...options, resolutionMs: 0 });
  const points = [{ x: 0, y: trial.bucket.tokens() }];
  trial.play(program, () => points.push({ x: trial.clock.now(), y: trial.bucket.tokens() }));
  return points;
}

function countSteps(program: readonly Step[]): number {
  let count = 0;
  for (const step of program) {
    // A round counts too: a repeat of nothing takes its time.
    count += "repeat" in step ? step.repeat * (1 + countSteps(step.steps)) : 1;
  }
  return count;
}
