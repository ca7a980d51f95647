import type { Kind } from "../scenario/kind.ts";
import { bucketKind } from "./bucket.ts";
import { busyKind } from "./busy.ts";
import { concurrencyKind } from "./concurrency.ts";
import { flowKind } from "./flow/flow.ts";
import { overloadKind } from "./overload.ts";
import { poolKind } from "./pool.ts";
import { rampKind } from "./ramp.ts";

/** Every kind of scenario, by its name in files. */
export const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["bucket", bucketKind],
  ["concurrency", concurrencyKind],
  ["ramp", rampKind],
  ["busy", busyKind],
  ["overload", overloadKind],
  ["pool", poolKind],
  ["flow", flowKind],
]);
