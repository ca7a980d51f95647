import { valueAt, withValue } from "./document.ts";
import type { Document } from "./document.ts";
import type { NumberField, WordField } from "./kind.ts";

type Path = readonly (string | number)[];

interface NumberOptions {
  readonly label: string;
  readonly unit?: string;
  readonly least: number;
  readonly most: number;
  readonly step?: number;
  readonly isUsed?: (document: Document) => boolean;
  /** Of a value in the document that is not a plain number, such as 30s. */
  readonly read?: (value: unknown) => number | undefined;
  readonly write?: (value: number) => unknown;
  /** What holds if the document says nothing. */
  readonly default?: number;
}

/** A number at a place in the document. */
export function numberField(path: Path, options: NumberOptions): NumberField {
  const { unit = "", step = 1, read = numberOf, write = (value) => value, ...rest } = options;
  return {
    ...rest,
    unit,
    step,
    get: (document) => {
      const value = valueAt(document, path);
      return value === undefined ? options.default : read(value);
    },
    set: (document, value) => withValue(document, path, write(value)),
  };
}

/** A word at a place in the document. */
export function wordField(
  path: Path,
  label: string,
  words: readonly string[],
  otherwise?: string,
): WordField {
  return {
    label,
    words,
    getWord: (document) => {
      const value = valueAt(document, path) ?? otherwise;
      return typeof value === "string" ? value : undefined;
    },
    setWord: (document, word) => withValue(document, path, word),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
