import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { metadataOf, payload, routes } from "../sample.ts";
import { MESSAGES, SEND_TYPE } from "./fields.ts";
import { commandOf, frameOf } from "./framing.ts";

const TYPES: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  string: FieldDescriptorProto_Type.STRING,
  uint64: FieldDescriptorProto_Type.UINT64,
  uint32: FieldDescriptorProto_Type.UINT32,
  int32: FieldDescriptorProto_Type.INT32,
};

const LABELS = {
  required: FieldDescriptorProto_Label.REQUIRED,
  optional: FieldDescriptorProto_Label.OPTIONAL,
  repeated: FieldDescriptorProto_Label.REPEATED,
};

/** Its generated code is a descriptor such as this one, in base64. */
const registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      create(FileDescriptorProtoSchema, {
        name: "send.proto",
        syntax: "proto2",
        messageType: Object.entries(MESSAGES).map(([name, fields]) => ({
          name,
          field: fields.map(([key, number, kind, presence]) => ({
            name: key,
            number,
            label: LABELS[presence],
            type: TYPES[kind] ?? FieldDescriptorProto_Type.MESSAGE,
            typeName: TYPES[kind] === undefined ? `.${kind}` : "",
          })),
        })),
      }),
    ],
  }),
);
const COMMAND = messageNamed("BaseCommand");
const SEND = messageNamed("CommandSend");
const METADATA = messageNamed("MessageMetadata");
const byProducer = routes();

export function decodeAndRoute(frame: Buffer): boolean {
  const { send } = fromBinary(COMMAND, commandOf(frame)) as unknown as {
    send: { producerId: bigint };
  };
  const route = byProducer.get(send.producerId);
  if (route === undefined) return false;
  route.frames++;
  return true;
}

export function encode(sequence: number): Buffer {
  const fields = { producerId: 3n, sequenceId: BigInt(sequence), numMessages: 1 };
  const send = create(SEND, fields);
  return frameOf(
    toBinary(COMMAND, create(COMMAND, { type: SEND_TYPE, send })),
    toBinary(METADATA, create(METADATA, { ...metadataOf(sequence) })),
    payload,
  );
}

function messageNamed(name: string): DescMessage {
  const found = registry.getMessage(name);
  if (found === undefined) throw new Error(`no message is named ${name}`);
  return found;
}
