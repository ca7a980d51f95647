import type { LivePoolDetail } from "../../../../src/live/live-message.ts";
import { poolKind } from "../../lab/kinds/pool.ts";
import type { Document } from "../../lab/model/document.ts";
import type { Preset } from "../../lab/model/kind.ts";
import { packState } from "../../lab/model/link.ts";
import { presetState, withTraffic } from "../../lab/model/state.ts";

/** Seconds that are simulated. */
const SECONDS = 40;

/** The lab with a pool as it is on both sides: its settings, and as many members as it has. */
export async function labLink({ of, share, settings, members }: LivePoolDetail): Promise<string> {
  const { max = share.ceiling ?? 1, min = max } = share;
  const { maxMembers, leaseMs, syncMs, rampPerSecond = 0 } = settings;
  const start = presetState(poolKind, poolKind.presets[0] as Preset);
  const document: Document = {
    ...start.b,
    title: `the pool of ${of}`,
    rateLimit: {
      max: whole(max),
      min: Math.min(whole(max), whole(min)),
      rampUpDuration: `${rampPerSecond > 0 ? whole((max - min) / rampPerSecond) : 1}s`,
    },
    store: { maxMembers, leaseMs, syncIntervalMs: syncMs },
  };
  const { least, most } = poolKind.curve;
  const living = members.filter(({ state }) => state !== "left").length;
  const packed = await packState(
    withTraffic(
      { ...start, a: document, b: document },
      {
        shape: "drawn",
        peak: Math.min(most, maxMembers, Math.max(least, living)),
        values: Array.from({ length: SECONDS }, () => 1),
      },
    ),
  );
  return packed === undefined ? "/lab" : `/lab#${packed}`;
}

function whole(value: number): number {
  return Math.max(1, Math.round(value));
}
