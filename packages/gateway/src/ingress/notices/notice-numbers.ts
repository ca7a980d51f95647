import { ConfigError } from "@sluice/core";
import { requireDuration, requireWhole } from "@sluice/core/internal";

/** When clients that know PIP-385 are told to pause, and for how long. Each has a default. */
export interface NoticeSettings {
  /** Milliseconds to wait for the receipt of a notice, Pulsar's `throttleProducerReceiptWaitTimeMillis`; 100 unless given. */
  readonly receiptWaitMs?: number | undefined;
  /**
   * A notice is due once less than this percentage of a bucket's capacity is left; 2.5 unless given. Raised,
   * clients pause earlier, and fewer SENDs of their last round trip are held.
   */
  readonly earlyPercent?: number | undefined;
  /** A pause lasts until this percentage of the capacity is there again; 4 unless given, at least `earlyPercent`. */
  readonly resumePercent?: number | undefined;
  /** No notice is sent for a shorter pause; 5 unless given. Clients' timers count whole milliseconds. */
  readonly pauseMinMs?: number | undefined;
  /** The longest pause of one notice; another notice follows with the rest. As long as the bucket needs unless given. */
  readonly pauseMaxMs?: number | undefined;
  /** Notices in a row without a receipt in time, after which a connection is sent no more; 10 unless given. */
  readonly unheededMax?: number | undefined;
}

/** The settings, checked, with their defaults. */
export interface NoticeNumbers {
  readonly receiptWaitMs: number;
  /** Parts of the capacity. */
  readonly earlyPart: number;
  readonly resumePart: number;
  readonly pauseMinMs: number;
  readonly pauseMaxMs: number;
  readonly unheededMax: number;
}

export const NOTICE_KEYS: readonly (keyof NoticeSettings)[] = [
  "receiptWaitMs",
  "earlyPercent",
  "resumePercent",
  "pauseMinMs",
  "pauseMaxMs",
  "unheededMax",
];

const RECEIPT_WAIT_MS = 100;
const EARLY_PERCENT = 2.5;
const RESUME_PERCENT = 4;
const PAUSE_MIN_MS = 5;
const UNHEEDED_MAX = 10;

export function noticeNumbers(settings: NoticeSettings = {}): NoticeNumbers {
  const where = "limits.throttle";
  const {
    receiptWaitMs = RECEIPT_WAIT_MS,
    earlyPercent = EARLY_PERCENT,
    resumePercent = Math.max(RESUME_PERCENT, earlyPercent),
    pauseMinMs = PAUSE_MIN_MS,
    pauseMaxMs,
    unheededMax = UNHEEDED_MAX,
  } = settings;
  requireDuration(`${where}.receiptWaitMs`, receiptWaitMs, 1);
  requireDuration(`${where}.pauseMinMs`, pauseMinMs, 0);
  if (pauseMaxMs !== undefined) requireDuration(`${where}.pauseMaxMs`, pauseMaxMs, 1);
  requireWhole(`${where}.unheededMax`, unheededMax, 1);
  requirePercent(`${where}.earlyPercent`, earlyPercent);
  requirePercent(`${where}.resumePercent`, resumePercent);
  if (resumePercent < earlyPercent)
    throw new ConfigError(
      `${where}.resumePercent is ${resumePercent}, less than earlyPercent (${earlyPercent}): a client would be told again as soon as it goes on; raise it`,
    );
  if (pauseMaxMs !== undefined && pauseMaxMs < pauseMinMs)
    throw new ConfigError(
      `${where}.pauseMaxMs is ${pauseMaxMs}, less than pauseMinMs (${pauseMinMs}): no client would be told; raise it, or write throttle: false`,
    );
  return {
    receiptWaitMs,
    earlyPart: earlyPercent / 100,
    resumePart: resumePercent / 100,
    pauseMinMs,
    pauseMaxMs: pauseMaxMs ?? Infinity,
    unheededMax,
  };
}

function requirePercent(where: string, percent: number): void {
  if (percent > 0 && percent <= 100) return;
  throw new ConfigError(`${where} is ${percent}; use a number above 0 and up to 100`);
}
