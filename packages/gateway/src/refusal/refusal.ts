import type { ServerErrorName } from "@sluice/pulsar/wire";

/** Why a client does not get what it asked for, in the protocol's own terms. */
export interface Refusal {
  readonly error: ServerErrorName;
  readonly message: string;
}

/** Characters of a text for a peer or a log line. Longer texts are cut and end in "…". */
const TEXT_CHARS_MAX = 300;

/** A text for a peer or a log: short, on one line, without control characters. */
export function plainText(text: string): string {
  const plain = text.slice(0, TEXT_CHARS_MAX + 1).replaceAll(/\p{C}/gu, " ");
  return plain.length > TEXT_CHARS_MAX ? `${plain.slice(0, TEXT_CHARS_MAX - 1)}…` : plain;
}

export function notAllowed(message: string): Refusal {
  return { error: "NotAllowedError", message };
}
