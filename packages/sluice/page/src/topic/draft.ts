import { signal } from "@preact/signals";
import type { LiveLimit } from "../../../src/live/live-message.ts";

/** What was typed or dragged and not applied yet; a key that is absent has not been touched. */
export interface Draft {
  /** Of the target, so that a draft is not carried to another limit. */
  readonly key: string;
  readonly messages?: string | undefined;
  readonly bytes?: string | undefined;
}

export const draft = signal<Draft>({ key: "" });

/** The unit that a limit of bytes is edited in. */
export interface ByteUnit {
  readonly name: "MB" | "kB" | "B";
  readonly bytes: number;
}

/** Small limits are edited in small units, so that a step is not larger than the limit. */
export function byteUnit(limit: number | undefined): ByteUnit {
  if (limit !== undefined && limit < 1_000) return { name: "B", bytes: 1 };
  return limit !== undefined && limit < 1_000_000
    ? { name: "kB", bytes: 1_000 }
    : { name: "MB", bytes: 1_000_000 };
}

/** The limit that the draft stands for; undefined if it is not a number. An empty field is no limit. */
export function draftedLimit(
  limit: LiveLimit | undefined,
  { messages, bytes }: Draft,
): LiveLimit | undefined {
  const wanted = {
    messages: messages === undefined ? limit?.messages : readCount(messages),
    bytes: bytes === undefined ? limit?.bytes : readBytes(bytes, byteUnit(limit?.bytes)),
  };
  if (wanted.messages === "wrong" || wanted.bytes === "wrong") return undefined;
  return {
    ...(wanted.messages !== undefined && { messages: wanted.messages }),
    ...(wanted.bytes !== undefined && { bytes: wanted.bytes }),
  };
}

export function isSameLimit(a: LiveLimit | undefined, b: LiveLimit | undefined): boolean {
  return a?.messages === b?.messages && a?.bytes === b?.bytes;
}

/** Whole messages a second from 1 on. */
function readCount(text: string): number | "wrong" | undefined {
  const digits = text.replaceAll(/[,\s]/g, "");
  if (digits === "") return undefined;
  return /^\d{1,15}$/.test(digits) && Number(digits) >= 1 ? Number(digits) : "wrong";
}

function readBytes(text: string, unit: ByteUnit): number | "wrong" | undefined {
  const digits = text.replaceAll(/[,\s]/g, "");
  if (digits === "") return undefined;
  if (!/^\d{1,12}(\.\d{1,9})?$/.test(digits)) return "wrong";
  const bytes = Math.round(Number(digits) * unit.bytes);
  return bytes >= 1 ? bytes : "wrong";
}
