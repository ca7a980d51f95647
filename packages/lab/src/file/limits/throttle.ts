import { DURATION_MAX_MS } from "@sluice/core/internal";
import * as v from "valibot";
import { either, field, map, real, whole } from "../fields.ts";

/** `limits.throttle`: when clients that know the throttle commands (PIP-385) are told to pause, and for how long. */
export interface ThrottleBlock {
  /** Pulsar's `throttleProducerReceiptWaitTimeMillis`. */
  readonly receiptWaitMs?: number | undefined;
  readonly earlyPercent?: number | undefined;
  readonly resumePercent?: number | undefined;
  readonly pauseMinMs?: number | undefined;
  readonly pauseMaxMs?: number | undefined;
  readonly unheededMax?: number | undefined;
  /** On the wire; clients must have the same. */
  readonly numbers?:
    | {
        readonly throttleProducer?: number | undefined;
        readonly throttleProducerReceipt?: number | undefined;
        readonly featureFlag?: number | undefined;
      }
    | undefined;
}

/** Pulsar's own command types and flags are below 100; protobuf reserves 19,000 to 19,999. */
const wireNumber = whole(100, 18_999);

/** The types of the commands unless given. */
const THROTTLE = 1_001;
const RECEIPT = 1_002;

const percent = field<number>(
  (value) => typeof value === "number" && value > 0 && value <= 100,
  "a percentage above 0 and up to 100",
  { type: "number", exclusiveMinimum: 0, maximum: 100 },
);

const block: v.GenericSchema<unknown, ThrottleBlock> = v.pipe(
  map({
    receiptWaitMs: v.optional(real(1, DURATION_MAX_MS)),
    earlyPercent: v.optional(percent),
    resumePercent: v.optional(percent),
    pauseMinMs: v.optional(real(0, DURATION_MAX_MS)),
    pauseMaxMs: v.optional(real(1, DURATION_MAX_MS)),
    unheededMax: v.optional(whole(1, 1_000_000)),
    numbers: v.optional(
      v.pipe(
        map({
          throttleProducer: v.optional(wireNumber),
          throttleProducerReceipt: v.optional(wireNumber),
          featureFlag: v.optional(wireNumber),
        }),
        v.check(
          ({ throttleProducer = THROTTLE, throttleProducerReceipt = RECEIPT }) =>
            throttleProducer !== throttleProducerReceipt,
          "has the same number for throttleProducer (1001 unless given) and throttleProducerReceipt (1002 unless given); change one",
        ),
      ),
    ),
  }),
  v.check(
    ({ earlyPercent = 0, resumePercent = 100 }) => earlyPercent <= resumePercent,
    "has a resumePercent below earlyPercent: a client would be told again as soon as it goes on; raise resumePercent",
  ),
  v.check(
    ({ pauseMinMs = 0, pauseMaxMs = Infinity }) => pauseMinMs <= pauseMaxMs,
    "has a pauseMaxMs below pauseMinMs: no client would be told; raise it, or write throttle: false",
  ),
);

export const throttleField: v.GenericSchema<unknown, ThrottleBlock | false> = either(
  [v.literal(false), block],
  (value) => (value === false ? v.literal(false) : block),
);
