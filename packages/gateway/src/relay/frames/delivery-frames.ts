import {
  COMMANDS,
  CommandTable,
  decodeFrameBy,
  decodeMetadata,
  ProtocolError,
  splitEntry,
  typeOf,
} from "@sluice/pulsar/wire";
import type { CommandBodies, UnknownCommand } from "@sluice/pulsar/wire";
import { messagesLeft } from "../../subscription/delivery.ts";
import type { BrokerFrame, ClientFrame } from "../relay-commands.ts";

/** Commands that are looked into only while a consumer is limited: most frames to consumers are these. */
const OF_DELIVERIES = new CommandTable({ flow: COMMANDS.flow, message: COMMANDS.message });

const FLOW = typeOf("flow");
const MESSAGE = typeOf("message");

/** Undefined if the frame is no FLOW, or a wrong one, which the broker judges. */
export function permitsOf(
  { bytes }: ClientFrame,
  command: UnknownCommand,
): CommandBodies["flow"] | undefined {
  if (command.type !== FLOW) return undefined;
  return orUndefined(() => {
    const { command: decoded } = decodeFrameBy(OF_DELIVERIES, bytes);
    return decoded.kind === "flow" ? decoded.body : undefined;
  });
}

interface Delivered {
  readonly consumerId: bigint;
  readonly messages: number;
  readonly bytes: number;
}

/** What a MESSAGE costs: its messages that are not acknowledged, and the bytes of its entry. */
export function deliveredBy({ command, bytes }: BrokerFrame): Delivered | undefined {
  if (command.kind !== "unknown" || command.type !== MESSAGE) return undefined;
  return orUndefined(() => {
    const { command: decoded, entry } = decodeFrameBy(OF_DELIVERIES, bytes);
    if (decoded.kind !== "message") return undefined;
    const { consumerId, ackSet } = decoded.body;
    const messages = messagesLeft(messagesIn(entry), ackSet?.length === 0 ? undefined : ackSet);
    return { consumerId, messages, bytes: entry.length };
  });
}

/** An entry that is none counts as one message. */
function messagesIn(entry: Buffer): number {
  return orUndefined(() => decodeMetadata(splitEntry(entry)).numMessagesInBatch) ?? 1;
}

/** Wrong bytes are for the other side to judge: a relay passes them on. */
function orUndefined<T>(decode: () => T | undefined): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}
