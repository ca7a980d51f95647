import type { Kind } from "../scenario/kind.ts";
import { bucketKind } from "./bucket.ts";
import { busyKind } from "./busy.ts";
import { rampKind } from "./ramp.ts";

/** Every kind of scenario, by the name that stands in its file. */
export const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["bucket", bucketKind],
  ["ramp", rampKind],
  ["busy", busyKind],
]);
