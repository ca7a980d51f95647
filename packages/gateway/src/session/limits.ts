import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { FRAME_PADDING_BYTES, MESSAGE_BYTES_MAX } from "@sluice/pulsar/wire";

/** What one connection may take. Every queue and every map of a session has its bound here. */
export interface SessionLimits {
  /** The largest payload of a message. */
  readonly messageBytesMax: number;
  /** The largest frame of a client that has not said who it is. */
  readonly greetingBytesMax: number;
  /** The largest command, without the entry behind it: what takes long to read makes others wait. */
  readonly commandBytesMax: number;
  /** Messages that one SEND may say it has. */
  readonly batchMessagesMax: number;
  readonly producersMax: number;
  readonly consumersMax: number;
  /** Requests that are not answered yet; reading stops there and goes on at half. */
  readonly requestsMax: number;
  /** Commands per second besides SEND, ACK and FLOW; beyond it the connection is not read until the next second. */
  readonly commandsPerSecond: number;
  /** Commands that name a producer or consumer that is not there; the next one ends the connection. */
  readonly unknownIdsMax: number;
  /**
   * Bytes that a client has not read: from here on it is sent no messages, and after as many bytes of
   * answers again it is not heard either.
   */
  readonly outboundHighBytes: number;
  readonly outboundLowBytes: number;
  /** Answers that may come together after the first of these. */
  readonly outboundMoreBytesMax: number;
  readonly unwritableMs: number;
  readonly greetingMs: number;
  /** How long a frame may take once it has begun. */
  readonly frameMs: number;
  /** Interval of PING to a silent client; after twice as long without an answer its connection is closed. */
  readonly pingMs: number;
}

const DEFAULT_SESSION_LIMITS: SessionLimits = {
  messageBytesMax: MESSAGE_BYTES_MAX,
  greetingBytesMax: 65_536,
  commandBytesMax: 262_144,
  batchMessagesMax: 100_000,
  producersMax: 1_000,
  consumersMax: 1_000,
  requestsMax: 100,
  commandsPerSecond: 10_000,
  unknownIdsMax: 100,
  outboundHighBytes: 65_536,
  outboundLowBytes: 32_768,
  outboundMoreBytesMax: 1_048_576,
  unwritableMs: 60_000,
  greetingMs: 5_000,
  frameMs: 30_000,
  pingMs: 30_000,
};

const DURATIONS: ReadonlySet<string> = new Set(["unwritableMs", "greetingMs", "frameMs", "pingMs"]);
const KEYS: ReadonlySet<string> = new Set(Object.keys(DEFAULT_SESSION_LIMITS));

/** What comes in a larger frame is more than storage takes for one entry. */
const MESSAGE_BYTES_CEILING = 16 * 1024 * 1024 - FRAME_PADDING_BYTES;

/** The given limits, checked, on top of the defaults. */
export function sessionLimits(given: Partial<SessionLimits> = {}): SessionLimits {
  if ("pendingSendsMax" in given)
    throw new ConfigError(
      "session.pendingSendsMax has moved; set limits.connection.pendingMessages instead",
    );
  requireKnownKeys("session", given, KEYS);
  const limits = { ...DEFAULT_SESSION_LIMITS, ...given };
  for (const [key, value] of Object.entries(limits)) {
    if (DURATIONS.has(key)) requireDuration(key, value, 1);
    else requireWhole(key, value, 1);
  }
  requireWhole("messageBytesMax", limits.messageBytesMax, 1, MESSAGE_BYTES_CEILING);
  requireWhole("greetingBytesMax", limits.greetingBytesMax, 64, MESSAGE_BYTES_CEILING);
  if (limits.outboundLowBytes > limits.outboundHighBytes)
    throw new ConfigError("outboundLowBytes must not be more than outboundHighBytes");
  return limits;
}

/** The largest frame of a client that is let in. */
export function frameBytesMax({ messageBytesMax }: SessionLimits): number {
  return messageBytesMax + FRAME_PADDING_BYTES;
}
