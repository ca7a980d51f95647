import type { Kind } from "../scenario/kind.ts";
import type { Kinds } from "../scenario/scenario-of.ts";
import { bucketKind } from "./bucket.ts";
import { busyKind } from "./busy.ts";
import { concurrencyKind } from "./concurrency.ts";
import { flowKind } from "./flow/flow.ts";
import { overloadKind } from "./overload.ts";
import { poolKind } from "./pool/pool.ts";
import { publishKind } from "./publish/publish.ts";
import { rampKind } from "./ramp/ramp.ts";

const BY_NAME: ReadonlyMap<string, Kind> = new Map([
  ["bucket", bucketKind],
  ["concurrency", concurrencyKind],
  ["ramp", rampKind],
  ["busy", busyKind],
  ["overload", overloadKind],
  ["publish", publishKind],
  ["pool", poolKind],
  ["flow", flowKind],
]);

/** Every kind of scenario, by its name in files. */
export const KINDS: Kinds = { names: [...BY_NAME.keys()], get: (name) => BY_NAME.get(name) };
