import { readFleetOptions } from "@sluice/fleet";
import type { FleetOptions } from "@sluice/fleet";
import { durationText } from "@sluice/gateway/internal";
import type { LivePoolDetail } from "../live-message.ts";

export type PoolSettings = LivePoolDetail["settings"];

type RateLimit = NonNullable<FleetOptions["rateLimit"]>;

/** The settings of a pool with every default in place. */
export function poolSettings(
  options: FleetOptions & { readonly rateLimit: RateLimit },
  ceiling: number,
): PoolSettings {
  const { membership, rateLimit } = readFleetOptions(options);
  const { timing, maxMembers, onStoreLoss } = membership;
  const perSecond = rampPerSecond(options.rateLimit, rateLimit?.ramp);
  return {
    leaseMs: timing.leaseMs,
    syncMs: timing.syncIntervalMs,
    storeTimeoutMs: timing.timeoutMs,
    maxMembers,
    safeShare: Math.round((ceiling / maxMembers) * 10) / 10,
    onStoreLoss,
    resumeTtlMs: rateLimit?.resume.enabled === true ? rateLimit.resume.ttlMs : 0,
    mode: modeText(options.rateLimit),
    ...(perSecond > 0 && { rampPerSecond: perSecond }),
  };
}

/** `(max − min) ÷ rampUp`, a second. */
function rampPerSecond(
  { max, min = 1 }: RateLimit,
  ramp: { readonly rampUpMs?: number } | undefined,
): number {
  const rampUpMs = ramp?.rampUpMs ?? 0;
  return rampUpMs > 0 && max > min ? Math.round(((max - min) / rampUpMs) * 10_000) / 10 : 0;
}

/** "goBackN: thresholdPercentage 50, coolDownPeriod 5 s". */
function modeText({ modes = {} }: RateLimit): string {
  const given: readonly (readonly [string, unknown])[] = Object.entries(modes);
  const [mode, numbers] = given[0] ?? ["relaxed", {}];
  const said = Object.entries(typeof numbers === "object" ? { ...numbers } : {}).map(
    ([key, value]: readonly [string, unknown]) =>
      `${key} ${typeof value === "number" ? numberText(key, value) : String(value)}`,
  );
  return said.length === 0 ? mode : `${mode}: ${said.join(", ")}`;
}

/** A flow file's durations are read as milliseconds. */
function numberText(key: string, value: number): string {
  return key.endsWith("Period") || key.endsWith("Duration") ? durationText(value) : String(value);
}
