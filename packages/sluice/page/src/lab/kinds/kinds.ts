import type { LabKind } from "../model/kind.ts";
import { busyKind } from "./busy.ts";
import { concurrencyKind } from "./concurrency.ts";
import { poolKind } from "./pool.ts";
import { publishKind } from "./publish.ts";
import { rampKind } from "./ramp.ts";

/** The tabs, in their order. */
export const LAB_KINDS: readonly LabKind[] = [
  rampKind,
  busyKind,
  concurrencyKind,
  publishKind,
  poolKind,
];

/** The tab that shows scenarios of a kind. */
export function tabOf(scenarioKind: unknown): LabKind | undefined {
  return LAB_KINDS.find(({ scenarios }) => scenarios.some((kind) => kind === scenarioKind));
}
