import { bytes, int32, message, optional, repeated, required, string, uint64 } from "../message.ts";
import type { MessageType, WithUnknown } from "../message.ts";
import { KEY_VALUE } from "./key-value.ts";
import type { KeyValue } from "./key-value.ts";

export interface Schema extends WithUnknown {
  readonly name: string;
  readonly schemaData: Uint8Array;
  readonly type: number;
  readonly properties?: readonly KeyValue[] | undefined;
}

export const SCHEMA: MessageType<Schema> = message("Schema", {
  name: required(1, string),
  schemaData: required(3, bytes),
  type: required(4, int32),
  properties: repeated(5, KEY_VALUE),
});

export interface CommandGetSchema extends WithUnknown {
  readonly requestId: bigint;
  readonly topic: string;
  readonly schemaVersion?: Uint8Array | undefined;
}

export const GET_SCHEMA: MessageType<CommandGetSchema> = message("CommandGetSchema", {
  requestId: required(1, uint64),
  topic: required(2, string),
  schemaVersion: optional(3, bytes),
});

export interface CommandGetSchemaResponse extends WithUnknown {
  readonly requestId: bigint;
  readonly errorCode?: number | undefined;
  readonly errorMessage?: string | undefined;
  readonly schema?: Schema | undefined;
  readonly schemaVersion?: Uint8Array | undefined;
}

export const GET_SCHEMA_RESPONSE: MessageType<CommandGetSchemaResponse> = message(
  "CommandGetSchemaResponse",
  {
    requestId: required(1, uint64),
    errorCode: optional(2, int32),
    errorMessage: optional(3, string),
    schema: optional(4, SCHEMA),
    schemaVersion: optional(5, bytes),
  },
);

export interface CommandGetOrCreateSchema extends WithUnknown {
  readonly requestId: bigint;
  readonly topic: string;
  readonly schema: Schema;
  readonly producerName?: string | undefined;
}

export const GET_OR_CREATE_SCHEMA: MessageType<CommandGetOrCreateSchema> = message(
  "CommandGetOrCreateSchema",
  {
    requestId: required(1, uint64),
    topic: required(2, string),
    schema: required(3, SCHEMA),
    producerName: optional(4, string),
  },
);

export interface CommandGetOrCreateSchemaResponse extends WithUnknown {
  readonly requestId: bigint;
  readonly errorCode?: number | undefined;
  readonly errorMessage?: string | undefined;
  readonly schemaVersion?: Uint8Array | undefined;
}

export const GET_OR_CREATE_SCHEMA_RESPONSE: MessageType<CommandGetOrCreateSchemaResponse> = message(
  "CommandGetOrCreateSchemaResponse",
  {
    requestId: required(1, uint64),
    errorCode: optional(2, int32),
    errorMessage: optional(3, string),
    schemaVersion: optional(4, bytes),
  },
);
