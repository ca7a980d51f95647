import type { UnknownCommand } from "./command.ts";
import { bufferOf } from "./message.ts";
import { ProtocolError } from "./protocol-error.ts";
import { ProtoReader, WIRE_TYPE } from "./proto-reader.ts";

/** Where all of Pulsar's requests have their id. */
const REQUEST_ID_TAG = (1 << 3) | WIRE_TYPE.varint;

/**
 * The id of the request that a command of an unknown type makes; undefined if it has none. The body's
 * field number is the command's type. Commands of transactions and topic watchers have an id.
 */
export function requestIdOf({ type, bytes }: UnknownCommand): bigint | undefined {
  try {
    const reader = new ProtoReader(bufferOf(bytes));
    if (!skipTo(reader, ((type << 3) | WIRE_TYPE.bytes) >>> 0)) return undefined;
    const body = reader.message();
    return skipTo(body, REQUEST_ID_TAG) ? body.uint64() : undefined;
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

/** Passes over all fields before the one with this tag; false if there is none. */
function skipTo(reader: ProtoReader, wanted: number): boolean {
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === wanted) return true;
    reader.skip(tag);
  }
  return false;
}
