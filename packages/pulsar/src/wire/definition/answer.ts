/** Answers to several kinds of requests. */
import { int32, message, optional, required, string, uint64 } from "../message.ts";
import type { MessageType, WithUnknown } from "../message.ts";
import { SCHEMA } from "./schema.ts";
import type { Schema } from "./schema.ts";

export interface CommandSuccess extends WithUnknown {
  readonly requestId: bigint;
  readonly schema?: Schema | undefined;
}

export const SUCCESS: MessageType<CommandSuccess> = message("CommandSuccess", {
  requestId: required(1, uint64),
  schema: optional(2, SCHEMA),
});

export interface CommandError extends WithUnknown {
  /** 2^64 − 1 if there is no request, as after a failed handshake. */
  readonly requestId: bigint;
  readonly error: number;
  readonly message: string;
}

export const ERROR: MessageType<CommandError> = message("CommandError", {
  requestId: required(1, uint64),
  error: required(2, int32),
  message: required(3, string),
});
