import { ConfigError } from "@sluice/core";
import type { RampOptions } from "@sluice/core";
import { readMode } from "./mode-settings.ts";
import type { ModesBlock } from "./mode-settings.ts";
import type { ReadSecret } from "./secret.ts";
import { SettingsMap } from "./settings-map.ts";
import type { DurationSetting } from "./settings-map.ts";
import { readStore } from "./store-settings.ts";
import type { StoreBlock, StoreSettings } from "./store-settings.ts";

/** Numaflow's `rateLimit` block, and `resumeTtl`. */
export interface RateLimitBlock {
  /** Tokens a second for the whole pool, at the top of the ramp. */
  readonly max: number;
  /** Where the ramp starts; 1 if not given. */
  readonly min?: number;
  /** How long it takes from `min` to `max`; a second if not given. */
  readonly rampUpDuration?: DurationSetting;
  readonly modes?: ModesBlock;
  /** Whether a pool that was gone for a short while goes on from where it was. */
  readonly resumedRampUp?: boolean;
  /** How long is short; 180 s if not given. How soon a dead member is noticed is another setting. */
  readonly resumeTtl?: DurationSetting;
  /** Numaflow's name for `resumeTtl`. */
  readonly ttl?: DurationSetting;
  readonly store?: StoreBlock;
}

/** What a `rateLimit` block says, with every default in place and nothing left to check. */
export interface RateLimitSettings {
  readonly ramp: RampOptions;
  readonly resume: ResumeSettings;
  readonly store: StoreSettings | undefined;
  /** Warnings about settings that are probably not intended. */
  readonly warnings: readonly string[];
}

export interface ResumeSettings {
  readonly enabled: boolean;
  /** A level that was left longer ago is forgotten. */
  readonly ttlMs: number;
}

export interface ReadOptions {
  /** The path of the block, for messages. */
  readonly where?: string;
  /** Without it, secrets that are only referred to are refused. */
  readonly readSecret?: ReadSecret;
}

const KEYS: readonly (keyof RateLimitBlock)[] = [
  "max",
  "min",
  "rampUpDuration",
  "store",
  "modes",
  "resumedRampUp",
  "resumeTtl",
  "ttl",
];

const DEFAULT_MIN = 1;
const DEFAULT_RAMP_UP_MS = 1000;
const DEFAULT_RESUME_TTL_MS = 180_000;

/** Reads a `rateLimit` block, whatever it is; the only error is a ConfigError that names the place. */
export function readRateLimit(block: unknown, options: ReadOptions = {}): RateLimitSettings {
  const { where = "rateLimit", readSecret } = options;
  const warnings: string[] = [];
  const map = new SettingsMap(block, { path: where, known: KEYS }, { warnings });
  const max = map.whole("max", 1);
  if (max === undefined) throw map.error("max", "a whole number of tokens a second, at least 1");
  const min = map.whole("min", 0) ?? DEFAULT_MIN;
  if (min > max) throw map.error("min", `at most max, ${max}`);
  const rampUpMs = map.durationMs("rampUpDuration") ?? DEFAULT_RAMP_UP_MS;
  return {
    ramp: { max, min, rampUpMs, mode: readMode(map) },
    resume: { enabled: map.flag("resumedRampUp") ?? false, ttlMs: readTtlMs(map) },
    store: readStore(map, { readSecret, warnings }),
    warnings,
  };
}

function readTtlMs(map: SettingsMap): number {
  const ttlMs = map.durationMs("ttl", 1);
  const resumeTtlMs = map.durationMs("resumeTtl", 1);
  if (ttlMs !== undefined && resumeTtlMs !== undefined && ttlMs !== resumeTtlMs) {
    throw new ConfigError(
      `${map.at("ttl")} is ${ttlMs} ms and ${map.at("resumeTtl")} is ${resumeTtlMs} ms; they are one setting by two names, so it must be there once`,
    );
  }
  return resumeTtlMs ?? ttlMs ?? DEFAULT_RESUME_TTL_MS;
}
