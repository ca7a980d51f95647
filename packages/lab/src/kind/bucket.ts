import { TokenBucket } from "@sluice/core";
import type { TokenBucketOptions } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";
import * as v from "valibot";
import type { Marker, Point } from "../chart/chart.ts";
import { list, map, milliseconds, oneOf, real, whole } from "../file/fields.ts";
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

/** Steps of a run, repeats unrolled. More would need gigabytes for their rows. */
const MAX_STEPS = 5_000_000;
/** Charts of runs from this length on count seconds instead of milliseconds. */
const SECONDS_FROM_MS = 10_000;

const OPERATIONS: Readonly<Record<Operation["op"], v.GenericSchema<unknown, Step>>> = {
  tokens: map({ op: v.literal("tokens") }),
  hasTokens: map({ op: v.literal("hasTokens") }),
  charge: map({ op: v.literal("charge"), n: whole(0) }),
  chargeAndCheck: map({ op: v.literal("chargeAndCheck"), n: whole(0) }),
  pauseMs: map({ op: v.literal("pauseMs"), until: v.optional(whole(0)) }),
  setRate: map({ op: v.literal("setRate"), rate: whole(1) }),
};

const unknownOperation = map({ op: oneOf(...(Object.keys(OPERATIONS) as Operation["op"][])) });

/** Chosen by the keys that a step has, so that an error is about that one form of step. */
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
    trial.play(program, {
      onOperation: ({ op }, value) => {
        if (value !== undefined) rows.push({ step: trial.step, op, value });
      },
    });
    return {
      rows,
      columns: [
        { name: "step", cell: (row) => String(rows[row]?.step) },
        { name: "op", cell: (row) => rows[row]?.op ?? "" },
        { name: "value", cell: (row) => String(rows[row]?.value) },
      ],
      chart: () => {
        const isLong = trial.clock.now() >= SECONDS_FROM_MS;
        const { points, markers } = traceBalance(options, program, isLong ? 1000 : 1);
        return {
          title: title || "Token bucket",
          subtitle: `${options.rate} tokens per ${options.periodMs ?? 1000} ms, capacity ${trial.bucket.capacity}`,
          x: { label: "time", unit: isLong ? "s" : "ms" },
          y: { label: "balance", unit: "tokens" },
          series: [{ label: "balance", shape: "line", points }],
          markers,
        };
      },
    };
  },
);

interface Observer {
  /** Time has passed since `fromMs`. */
  readonly onAdvance?: (fromMs: number) => void;
  readonly onOperation: (operation: Operation, answer: Answer) => void;
}

/** A bucket and its clock. */
class Trial {
  readonly clock = new VirtualClock();
  readonly bucket: TokenBucket;
  /** Steps run so far. */
  step = 0;

  constructor(options: TokenBucketOptions) {
    this.bucket = new TokenBucket({ ...options, clock: this.clock });
  }

  play(program: readonly Step[], observer: Observer): void {
    for (const step of program) {
      if ("repeat" in step) {
        for (let i = 0; i < step.repeat; i++) this.play(step.steps, observer);
        continue;
      }
      this.step++;
      if ("advanceMs" in step) {
        const fromMs = this.clock.now();
        this.clock.advance(step.advanceMs);
        observer.onAdvance?.(fromMs);
      } else observer.onOperation(step, this.#perform(step));
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

/** The balance over time, and where the rate changed. */
interface Curve {
  readonly points: readonly Point[];
  readonly markers: readonly Marker[];
}

/**
 * Traced with a second bucket, because looking at a bucket refills it and moves its resolution
 * window. The second one has a resolution of 0, so the curve also shows what the first holds back.
 */
function traceBalance(
  options: TokenBucketOptions,
  program: readonly Step[],
  unitMs: number,
): Curve {
  const trial = new Trial({ ...options, resolutionMs: 0 });
  const { clock, bucket } = trial;
  const { periodMs = 1000 } = options;
  const points: Point[] = [];
  const markers: Marker[] = [];
  let { rate } = options;
  let tokens = bucket.tokens();
  /** The balance with the part of a token that is still on its way: `tokens` is whole. */
  let level = tokens;
  const note = (atMs: number, y: number): void => {
    points.push({ x: atMs / unitMs, y });
  };
  note(0, level);
  trial.play(program, {
    onAdvance: (fromMs) => {
      const { capacity } = bucket;
      const grown = level + ((clock.now() - fromMs) * rate) / periodMs;
      tokens = bucket.tokens();
      if (level < capacity && grown > capacity)
        note(fromMs + ((capacity - level) * periodMs) / rate, capacity);
      level = grown >= tokens + 1 ? tokens : grown;
      note(clock.now(), level);
    },
    onOperation: (operation) => {
      const before = tokens;
      tokens = bucket.tokens();
      if (tokens !== before) note(clock.now(), (level += tokens - before));
      if (operation.op !== "setRate") return;
      ({ rate } = operation);
      markers.push({ x: clock.now() / unitMs, label: `rate ${rate}` });
    },
  });
  return { points, markers };
}

function countSteps(program: readonly Step[]): number {
  let count = 0;
  for (const step of program) {
    // A round counts as a step too, because a repeat of no steps also takes time.
    count += "repeat" in step ? step.repeat * (1 + countSteps(step.steps)) : 1;
  }
  return count;
}
