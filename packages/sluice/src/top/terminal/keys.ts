/** A key as `onKey` takes it: a printable character, or the name of another key. */
export type Key = string;

const NAMED: ReadonlyMap<string, Key> = new Map([
  ["\u0003", "ctrl-c"],
  ["\r", "enter"],
  ["\n", "enter"],
  ["\u007F", "backspace"],
  ["\b", "backspace"],
  ["\u0015", "clear"],
  ["\u001B", "escape"],
  ["\u001B[A", "up"],
  ["\u001BOA", "up"],
  ["\u001B[B", "down"],
  ["\u001BOB", "down"],
  ["\u001B[5~", "page-up"],
  ["\u001B[6~", "page-down"],
  ["\u001B[H", "home"],
  ["\u001B[1~", "home"],
  ["\u001B[F", "end"],
  ["\u001B[4~", "end"],
]);

/** A sequence of a key (`ESC [ … letter`, `ESC O letter`), or one character. */
// oxlint-disable-next-line no-control-regex -- Terminals send keys as control characters.
const KEY = /\u001B\[[\d;]*[A-Za-z~]|\u001BO[A-Z]|[\s\S]/gu;

/** The keys in what a terminal has sent. Sequences that mean nothing here are left out. */
export function keysOf(sent: string): readonly Key[] {
  return (sent.match(KEY) ?? []).flatMap((part) => {
    const key = NAMED.get(part);
    if (key !== undefined) return [key];
    return part >= " " && !part.startsWith("\u001B") ? [part] : [];
  });
}
