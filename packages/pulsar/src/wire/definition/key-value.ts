import { int32, message, required, string, uint64 } from "../message.ts";
import type { MessageType, WithUnknown } from "../message.ts";

export interface KeyValue extends WithUnknown {
  readonly key: string;
  readonly value: string;
}

export const KEY_VALUE: MessageType<KeyValue> = message("KeyValue", {
  key: required(1, string),
  value: required(2, string),
});

export interface KeyLongValue extends WithUnknown {
  readonly key: string;
  readonly value: bigint;
}

export const KEY_LONG_VALUE: MessageType<KeyLongValue> = message("KeyLongValue", {
  key: required(1, string),
  value: required(2, uint64),
});

export interface IntRange extends WithUnknown {
  readonly start: number;
  readonly end: number;
}

export const INT_RANGE: MessageType<IntRange> = message("IntRange", {
  start: required(1, int32),
  end: required(2, int32),
});
