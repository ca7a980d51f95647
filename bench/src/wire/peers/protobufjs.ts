import protobuf from "protobufjs";
import { metadataOf, payload, routes } from "../sample.ts";
import { MESSAGES, SEND_TYPE } from "./fields.ts";
import { commandOf, frameOf } from "./framing.ts";

interface DecodedSend {
  readonly producerId: { toNumber(): number };
}

/** protobufjs makes code out of a definition when it is first used. */
const root = new protobuf.Root();
for (const [name, fields] of Object.entries(MESSAGES)) {
  const type = new protobuf.Type(name);
  for (const [key, number, kind, presence] of fields)
    type.add(new protobuf.Field(key, number, kind, presence));
  root.add(type);
}
root.resolveAll();
const COMMAND = root.lookupType("BaseCommand");
const METADATA = root.lookupType("MessageMetadata");
const byProducer = new Map([...routes()].map(([id, route]) => [Number(id), route]));

export function decodeAndRoute(frame: Buffer): boolean {
  const { send } = COMMAND.decode(commandOf(frame)) as unknown as { send: DecodedSend };
  const route = byProducer.get(send.producerId.toNumber());
  if (route === undefined) return false;
  route.frames++;
  return true;
}

export function encode(sequence: number): Buffer {
  const send = { producerId: 3, sequenceId: sequence, numMessages: 1 };
  const { sequenceId, publishTime, ...rest } = metadataOf(sequence);
  const metadata = {
    ...rest,
    sequenceId: Number(sequenceId),
    publishTime: Number(publishTime),
  };
  return frameOf(
    COMMAND.encode({ type: SEND_TYPE, send }).finish(),
    METADATA.encode(metadata).finish(),
    payload,
  );
}
