import { ConfigError } from "@sluice/core";
import type { RampModeOptions } from "@sluice/core/internal";
import { inWords } from "./settings-map.ts";
import type { DurationSetting, SettingsMap } from "./settings-map.ts";

/** Exactly one mode; none at all is relaxed. */
export interface ModesBlock {
  readonly scheduled?: Readonly<Record<string, never>>;
  readonly relaxed?: Readonly<Record<string, never>>;
  readonly onlyIfUsed?: { readonly thresholdPercentage?: number };
  readonly goBackN?: {
    readonly thresholdPercentage?: number;
    readonly coolDownPeriod?: DurationSetting;
    readonly rampDownPercentage?: number;
  };
}

const MODES = ["scheduled", "relaxed", "onlyIfUsed", "goBackN"] as const;
const DEFAULT_PERCENTAGE = 50;
const DEFAULT_COOL_DOWN_MS = 5000;

/** Reads the `modes` of a `rateLimit` block. */
export function readMode(block: SettingsMap): RampModeOptions {
  const modes = block.map("modes", MODES);
  if (modes === undefined) return { kind: "relaxed" };
  if (modes.keys.length > 1) {
    const several = inWords(modes.keys, "and");
    throw new ConfigError(`${block.at("modes")} has ${several}; it must have one mode`);
  }
  const kind = MODES.find((mode) => modes.has(mode)) ?? "relaxed";
  switch (kind) {
    case "scheduled":
    case "relaxed":
      modes.map(kind, []);
      return { kind };
    case "onlyIfUsed": {
      const given = modes.map(kind, ["thresholdPercentage"]);
      return { kind, thresholdPercentage: percentage(given, "thresholdPercentage") };
    }
    case "goBackN": {
      const given = modes.map(kind, [
        "thresholdPercentage",
        "coolDownPeriod",
        "rampDownPercentage",
      ]);
      return {
        kind,
        thresholdPercentage: percentage(given, "thresholdPercentage"),
        coolDownMs: given?.durationMs("coolDownPeriod") ?? DEFAULT_COOL_DOWN_MS,
        rampDownPercentage: percentage(given, "rampDownPercentage"),
      };
    }
  }
}

function percentage(mode: SettingsMap | undefined, key: string): number {
  return mode?.whole(key, 0, 100) ?? DEFAULT_PERCENTAGE;
}
