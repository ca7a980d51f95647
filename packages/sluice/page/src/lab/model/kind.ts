import type { Document } from "./document.ts";

/** A setting that can be changed: a number to drag, or a word to choose. */
export type Field = NumberField | WordField;

interface FieldBase {
  readonly label: string;
  /** Whether the setting means something, given the others. */
  readonly isUsed?: (document: Document) => boolean;
}

export interface NumberField extends FieldBase {
  readonly unit: string;
  readonly least: number;
  readonly most: number;
  readonly step: number;
  /** Undefined: the document has another form there. */
  readonly get: (document: Document) => number | undefined;
  readonly set: (document: Document, value: number) => Document;
}

export interface WordField extends FieldBase {
  readonly words: readonly string[];
  readonly getWord: (document: Document) => string | undefined;
  readonly setWord: (document: Document, word: string) => Document;
}

/** One line of the table of results. Better: the sign of a better value; 0 is a trade-off. */
export interface Figure {
  readonly name: string;
  /** Null: that never was; `none` says so. */
  readonly value: number | null;
  readonly text: (value: number) => string;
  readonly none?: string;
  readonly better: 1 | -1 | 0;
}

/** What a run has sent back, as far as the figures need it. */
export interface Outcome {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly stats: unknown;
}

/** What a side is called in sentences: bold parts and plain ones in turn, the first one bold. */
export type Sentence = readonly string[];

export interface Preset {
  readonly name: string;
  readonly a: Document;
  readonly b: Document;
  /** A shape that is drawn, or nothing if the documents have their own traffic. */
  readonly traffic?: { readonly shape: string; readonly peak: number; readonly seconds: number };
}

/** One tab of the lab. */
export interface LabKind {
  readonly id: string;
  readonly name: string;
  /** Kinds of scenarios that the tab shows. */
  readonly scenarios: readonly string[];
  readonly fields: readonly Field[];
  readonly presets: readonly Preset[];
  /** What the drawn curve is: "Traffic", "Workers", "Members". */
  readonly curve: {
    readonly name: string;
    readonly unit: string;
    readonly least: number;
    readonly most: number;
  };
  /** Whether what the running flow was asked for can be the curve. */
  readonly takesLive: boolean;
  /** The document with this curve, in amounts a second. */
  readonly withCurve: (document: Document, values: readonly number[]) => Document;
  readonly figures: (outcome: Outcome, document: Document) => readonly Figure[];
  readonly sentence: (a: readonly Figure[], b: readonly Figure[]) => Sentence;
  /** The name of a side in its chart: its mode, rule or algorithm. */
  readonly nameOf: (document: Document) => string;
  readonly noteOf: (document: Document) => string;
}
