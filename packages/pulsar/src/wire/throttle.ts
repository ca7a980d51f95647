import { ConfigError } from "@sluice/core";
import type { Reason } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { CommandTable } from "./command.ts";
import type { CommandIn, UnknownCommand } from "./command.ts";
import type { FeatureFlags } from "./definition/connect.ts";
import { THROTTLE_PRODUCER, THROTTLE_PRODUCER_RECEIPT } from "./definition/throttle.ts";
import type {
  CommandThrottleProducer,
  CommandThrottleProducerReceipt,
} from "./definition/throttle.ts";
import { bufferOf } from "./message.ts";
import { ProtoReader, WIRE_TYPE } from "./proto-reader.ts";
import { ProtoWriter } from "./proto-writer.ts";

/**
 * The numbers that PIP-385 needs on the wire. Both peers must have the same. The document's flag 6 is
 * taken by Pulsar 4.0.3, so the defaults are far from every number that Pulsar uses.
 */
export interface ThrottleNumbers {
  /** The type of the command that tells a producer to pause. */
  readonly throttleProducer: number;
  /** The type of its receipt. */
  readonly throttleProducerReceipt: number;
  /** The field of `FeatureFlags` by which a peer announces that it knows both commands. */
  readonly featureFlag: number;
}

export const THROTTLE_NUMBERS: ThrottleNumbers = {
  throttleProducer: 1001,
  throttleProducerReceipt: 1002,
  featureFlag: 1001,
};

/** The reasons that PIP-385 has, by our own names. */
export type ThrottlingReason = Extract<
  Reason,
  "topic-rate" | "group-rate" | "connection-pending" | "memory" | "broker-rate"
>;

/** Their numbers on the wire. */
export const THROTTLING_REASON: Readonly<Record<ThrottlingReason, number>> = {
  "topic-rate": 0,
  "group-rate": 1,
  "connection-pending": 2,
  memory: 3,
  "broker-rate": 4,
};

interface ThrottleBodies {
  readonly throttleProducer: CommandThrottleProducer;
  readonly throttleProducerReceipt: CommandThrottleProducerReceipt;
}

export type ThrottleCommand = CommandIn<ThrottleBodies>;

const KEYS: ReadonlySet<string> = new Set(Object.keys(THROTTLE_NUMBERS));

/** Pulsar's own command types and flags are below 100; protobuf reserves 19,000 to 19,999. */
const NUMBER_MIN = 100;
const NUMBER_MAX = 18_999;

/**
 * Reads and writes the throttle commands and their feature flag. On a connection they travel as
 * `UnknownCommand`, because their types are settings. Send them only to a peer that announced the flag:
 * other clients close the connection, or crash, on a command that they do not know.
 */
export class ThrottleCodec {
  readonly numbers: ThrottleNumbers;
  readonly #table: CommandTable<ThrottleBodies>;
  readonly #flagTag: number;
  readonly #flag: Uint8Array;

  constructor(given: Partial<ThrottleNumbers> = {}) {
    requireKnownKeys("throttle numbers", given, KEYS);
    const numbers = { ...THROTTLE_NUMBERS, ...given };
    for (const [key, value] of Object.entries(numbers))
      requireWhole(key, value, NUMBER_MIN, NUMBER_MAX);
    const { throttleProducer, throttleProducerReceipt, featureFlag } = numbers;
    if (throttleProducer === throttleProducerReceipt)
      throw new ConfigError(
        `throttleProducer and throttleProducerReceipt are both ${throttleProducer}; give each a number of its own`,
      );
    this.numbers = numbers;
    this.#table = new CommandTable<ThrottleBodies>({
      throttleProducer: { type: throttleProducer, body: THROTTLE_PRODUCER },
      throttleProducerReceipt: { type: throttleProducerReceipt, body: THROTTLE_PRODUCER_RECEIPT },
    });
    this.#flagTag = (featureFlag << 3) | WIRE_TYPE.varint;
    const writer = new ProtoWriter();
    writer.uint32(this.#flagTag);
    writer.bool(true);
    this.#flag = writer.finish();
  }

  /** The same flags with ours among them. */
  announceIn(flags: FeatureFlags): FeatureFlags {
    return { ...flags, unknown: [...(flags.unknown ?? []), this.#flag] };
  }

  isAnnouncedIn(flags: FeatureFlags | undefined): boolean {
    return (flags?.unknown ?? []).some((field) => this.#isSet(field));
  }

  /** The same flags without ours, for a peer that must not see it. */
  withoutFlag(flags: FeatureFlags): FeatureFlags {
    return { ...flags, unknown: flags.unknown?.filter((field) => !this.#isFlag(field)) };
  }

  encode(command: ThrottleCommand): UnknownCommand {
    const writer = new ProtoWriter();
    this.#table.encodeInto(writer, command);
    return { kind: "unknown", type: this.numbers[command.kind], bytes: writer.finish() };
  }

  /**
   * Undefined for a command of another type.
   *
   * @throws ProtocolError if the command has no valid body
   */
  decode({ type, bytes }: UnknownCommand): ThrottleCommand | undefined {
    if (type !== this.numbers.throttleProducer && type !== this.numbers.throttleProducerReceipt)
      return undefined;
    const command = this.#table.decode(bufferOf(bytes), 0, bytes.length);
    return command.kind === "unknown" ? undefined : command;
  }

  #isFlag(field: Uint8Array): boolean {
    return new ProtoReader(bufferOf(field)).tag() === this.#flagTag;
  }

  #isSet(field: Uint8Array): boolean {
    const reader = new ProtoReader(bufferOf(field));
    return reader.tag() === this.#flagTag && reader.bool();
  }
}

/** Our name of a reason on the wire; undefined for one of a newer peer. */
export function throttlingReasonOf(number: number): ThrottlingReason | undefined {
  const names = Object.keys(THROTTLING_REASON) as ThrottlingReason[];
  return names.find((name) => THROTTLING_REASON[name] === number);
}
