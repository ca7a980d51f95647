/** What a plain scalar may not begin with: marks of YAML that scenarios do not need, or that begin something else. */
const INDICATOR = /^[,[\]{}#&*!|>'"%@`?]|^[-:](?= |$)/;

const INTEGER = /^[-+]?[0-9]+$/;
const FRACTION = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/** Words that YAML reads as a value, in spellings that nobody can be sure of. */
const ODD = /^(?:~|null|true|false|[-+]?\.inf|\.nan|0o[0-7]+|0x[0-9a-f]+)$/i;

/** Beyond printable characters, YAML implementations differ. Also a byte order mark within the text. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\uFEFF]/u;

/** A value, or what is wrong with the text. */
export type ScalarReading = { readonly value: unknown } | { readonly expected: string };

/** What text without quotes means; `yaml` says the same of all that is accepted. */
export function readPlain(text: string): ScalarReading {
  if (INDICATOR.test(text)) return { expected: "text in quotes" };
  if (UNPRINTABLE.test(text)) return { expected: "printable characters" };
  if (text === "null") return { value: null };
  if (text === "true") return { value: true };
  if (text === "false") return { value: false };
  if (ODD.test(text)) return { expected: "true, false, null, a decimal number or text in quotes" };
  if (INTEGER.test(text) || FRACTION.test(text)) return { value: Number(text) };
  return { value: text };
}

/** Whether the text can stand without quotes and means itself, in a flow collection too. */
export function isPlainText(text: string): boolean {
  if (!/^[^\s,[\]{}#:]+(?: [^\s,[\]{}#:]+)*$/u.test(text)) return false;
  const read = readPlain(text);
  return "value" in read && read.value === text;
}

/** Text in double quotes with the escapes of JSON, quotes included; undefined if it is not. */
export function readDoubleQuoted(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
