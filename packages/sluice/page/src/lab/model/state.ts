import { dip, isShape, shapeValues } from "./shapes.ts";
import type { Document } from "./document.ts";
import type { LabKind, Preset } from "./kind.ts";

/** The curve: parts of its peak, second by second. `file`: the documents have their own. */
export interface Traffic {
  /** A name of a shape, `dip`, `live`, `drawn` or `file`. */
  readonly shape: string;
  readonly peak: number;
  readonly values: readonly number[];
}

/** All that the page computes from, and all that a link holds. */
export interface LabState {
  readonly kind: LabKind;
  readonly traffic: Traffic;
  readonly a: Document;
  readonly b: Document;
}

export type Side = "a" | "b";

export function presetState(kind: LabKind, preset: Preset): LabState {
  const { a, b, traffic } = preset;
  if (traffic === undefined) return { kind, traffic: NO_CURVE, a, b };
  const { shape, peak, seconds } = traffic;
  const values = valuesOf(shape, seconds);
  return withTraffic({ kind, traffic: NO_CURVE, a, b }, { shape, peak, values });
}

/** No curve of the page: what the documents say holds. */
const NO_CURVE: Traffic = { shape: "file", peak: 0, values: [] };

export function valuesOf(shape: string, seconds: number): readonly number[] {
  return isShape(shape) ? shapeValues(shape, seconds) : dip(seconds);
}

/** Both sides with the same curve: settings are compared on the same traffic. */
export function withTraffic(state: LabState, traffic: Traffic): LabState {
  const { kind, a, b } = state;
  const amounts = traffic.values.map((part) => part * traffic.peak);
  return { ...state, traffic, a: kind.withCurve(a, amounts), b: kind.withCurve(b, amounts) };
}

/**
 * A document that was imported for one side. The other side keeps its settings if it is of the same kind, and takes
 * over nothing but what is not a setting: the whole document with its own settings set again.
 */
export function withImport(
  state: LabState,
  side: Side,
  kind: LabKind,
  imported: Document,
): LabState {
  if (kind !== state.kind || state[side]["kind"] !== imported["kind"])
    return { kind, traffic: NO_CURVE, a: imported, b: imported };
  const other = side === "a" ? state.b : state.a;
  const copied = kind.fields.reduce((document, field) => {
    if ("words" in field) {
      const word = field.getWord(other);
      return word === undefined ? document : field.setWord(document, word);
    }
    const value = field.get(other);
    const isUsed = field.isUsed?.(document) ?? true;
    return value === undefined || !isUsed ? document : field.set(document, value);
  }, imported);
  return {
    kind,
    traffic: NO_CURVE,
    a: side === "a" ? imported : copied,
    b: side === "b" ? imported : copied,
  };
}

/** Settings in which the two sides differ. */
export function differences({ kind, a, b }: LabState): LabKind["fields"] {
  return kind.fields.filter((field) =>
    "words" in field ? field.getWord(a) !== field.getWord(b) : field.get(a) !== field.get(b),
  );
}
