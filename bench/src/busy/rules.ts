import { createBusyThrottle, SeededRandom } from "@sluice/core";
import type { BusyThrottle, Clock } from "@sluice/core";
import { proseRule, tableRule } from "@sluice/core/internal";
import { AimdThrottle } from "./peers/aimd.ts";
import { CubicThrottle } from "./peers/cubic.ts";
import { DocumentThrottle } from "./peers/document.ts";
import { DocumentTextThrottle } from "./peers/document-text.ts";
import { SreThrottle } from "./peers/sre.ts";

type MakeThrottle = (clock: Clock) => BusyThrottle;

export const OURS = "sluice";

/** Every rule that is compared, by the name in the table. */
export const RULES: ReadonlyMap<string, MakeThrottle> = new Map([
  [OURS, (clock) => createBusyThrottle({ clock })],
  [
    "TChannel's tables (x4, /2 per busy)",
    (clock) => new DocumentThrottle(clock, tableRule({ factor: 4 })),
  ],
  [
    "TChannel's text, by the second",
    (clock) => new DocumentThrottle(clock, proseRule({ factor: 3 })),
  ],
  ["TChannel's text, at once", (clock) => new DocumentTextThrottle(clock)],
  ["cubic, every busy cuts", (clock) => new CubicThrottle(clock, false)],
  ["cubic, one cut a generation", (clock) => new CubicThrottle(clock, true)],
  ["AIMD x0.7 a generation, +5 %/s", (clock) => new AimdThrottle(clock)],
  ["SRE K=2, 120 s", sre(2, 120_000, false)],
  ["SRE K=2, 10 s", sre(2, 10_000, false)],
  ["SRE K=1.1, 10 s, at completion", sre(1.1, 10_000, true)],
]);

function sre(k: number, windowMs: number, countsAnswered: boolean): MakeThrottle {
  return (clock) => new SreThrottle(clock, { k, windowMs, countsAnswered }, new SeededRandom(1));
}
