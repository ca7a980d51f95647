/** Characters that a POSIX shell takes as they are. */
const PLAIN = /^[\w./:@%+,-]+$/;

/** One word of a command to copy. Clients choose the names of topics, and `$(…)` in one would run. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
