import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { ThrottleCodec } from "@sluice/pulsar/sim";
import type { ThrottleNumbers } from "@sluice/pulsar/wire";
import type { DispatchSettings } from "./dispatch/dispatch.ts";
import type { PublishLimitSettings } from "./limits/limit-settings.ts";
import { NOTICE_KEYS, noticeNumbers } from "./notices/notice-numbers.ts";
import type { NoticeNumbers, NoticeSettings } from "./notices/notice-numbers.ts";

/** How clients that know PIP-385 are told to pause. */
export interface ThrottleSettings extends NoticeSettings {
  /** The numbers on the wire; clients must have the same. Default: 1001, 1002 and 1001. */
  readonly numbers?: { readonly [K in keyof ThrottleNumbers]?: number | undefined } | undefined;
}

/** Limits of publishing, and what is held meanwhile. */
export interface IngressSettings extends PublishLimitSettings, DispatchSettings {
  /** Bounds of one connection. Default: those of its keys. */
  readonly connection?:
    | {
        /** SENDs that are being stored; reading stops there and goes on at half. 1,000 unless given. */
        readonly pendingMessages?: number | undefined;
        /**
         * Bytes of SENDs that wait for a limit; reading stops there. Unless given, four times what is left of half
         * of the memory: 16 MiB at least, 77 MiB for one connection alone with the default memory.
         */
        readonly heldBytes?: number | undefined;
      }
    | undefined;
  /**
   * Age of the oldest SEND that waits, from which its producer may not hold more; 5,000 unless given. Four
   * times as old, and 25 s at most, while another producer of the connection sends within its limits.
   */
  readonly maxHoldMs?: number | undefined;
  /** False: no client is told, all are held. Default: the defaults of its keys. */
  readonly throttle?: ThrottleSettings | false | undefined;
}

/** The settings of all connections, checked. */
export interface ConnectionBounds {
  readonly pendingMax: number;
  /** Undefined: by what all connections hold. */
  readonly heldBytesMax: number | undefined;
  readonly maxHoldMs: number;
  /** Instead of `maxHoldMs` while a producer of the connection would suffer that does not wait itself. */
  readonly sharedHoldMs: number;
  readonly notices: NoticeNumbers;
}

const KEYS: ReadonlySet<string> = new Set([
  "broker",
  "groups",
  "namespaces",
  "topics",
  "topicDefault",
  "connection",
  "maxHoldMs",
  "throttle",
  "dispatch",
  "subscribe",
]);
const CONNECTION_KEYS: ReadonlySet<string> = new Set(["pendingMessages", "heldBytes"]);
const THROTTLE_KEYS: ReadonlySet<string> = new Set([...NOTICE_KEYS, "numbers"]);

const PENDING_MAX = 1_000;
const MAX_HOLD_MS = 5_000;

/** A client's own timeout, 30 s by default, would end before the frame goes. */
const MAX_HOLD_MAX_MS = 25_000;

/** `sharedHoldMs` ÷ `maxHoldMs`. 20 s by default: below the send timeout of 30 s that clients with shared connections have. */
const SHARED_HOLD_FACTOR = 4;

/** The bounds of each connection; `PublishLimits` checks the limits themselves. */
export function connectionBounds(settings: IngressSettings): ConnectionBounds {
  requireKnownKeys("limits", settings, KEYS);
  const { connection = {}, maxHoldMs = MAX_HOLD_MS, throttle = {} } = settings;
  requireKnownKeys("limits.connection", connection, CONNECTION_KEYS);
  const { pendingMessages: pendingMax = PENDING_MAX, heldBytes } = connection;
  requireWhole("limits.connection.pendingMessages", pendingMax, 1);
  if (heldBytes !== undefined) requireWhole("limits.connection.heldBytes", heldBytes, 1);
  requireDuration("limits.maxHoldMs", maxHoldMs, 1);
  if (maxHoldMs > MAX_HOLD_MAX_MS)
    throw new ConfigError(
      `limits.maxHoldMs is ${maxHoldMs}; use at most ${MAX_HOLD_MAX_MS}, because clients give a SEND up after 30 s by default`,
    );
  const notices = noticeNumbers(throttle === false ? {} : throttle);
  const sharedHoldMs = Math.min(SHARED_HOLD_FACTOR * maxHoldMs, MAX_HOLD_MAX_MS);
  return { pendingMax, heldBytesMax: heldBytes, maxHoldMs, sharedHoldMs, notices };
}

/** The throttle commands; undefined if clients are not to be told. */
export function throttleCodec({ throttle = {} }: IngressSettings): ThrottleCodec | undefined {
  if (throttle === false) return undefined;
  requireKnownKeys("limits.throttle", throttle, THROTTLE_KEYS);
  const given = Object.entries(throttle.numbers ?? {}).filter(([, value]) => value !== undefined);
  return new ThrottleCodec(Object.fromEntries(given));
}
