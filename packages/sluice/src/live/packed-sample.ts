import type { LiveSample } from "./live-message.ts";

/**
 * A sample as it is sent and kept: with short keys, and each long text once, it is a third shorter. Only `packSample` and
 * `unpackSample` know its form. It may change in any version: `SAMPLE_FORMAT` tells a page that was opened before an update.
 */
export interface PackedSample {
  readonly packed: unknown;
  /** Texts that occur more than once. */
  readonly texts: readonly string[];
}

/** Keys of samples, the most frequent first: the first 36 have one character. A key that is missing here is sent whole. */
const KEYS: readonly string[] = (
  "messages bytes name rate asked isAskedAtLeast producers topic isAware heldFrames heldBytes reason limit waiting " +
  "groups topics inFlight kind connector droppedRate queue share key why setting path place forMs untilInMs pauseMs " +
  "receiptAfterMs told peer target level source pipeline vertex role detail since ceiling max min usage members " +
  "rampLeftMs pool backlog becauseOf producer part turn limiter others notWaiting behind topicsLeftOut value address " +
  "gate service isAdaptive limitMax sent ok busy failed rttMs bestRttMs allowed cut from to agoMs pause leftMs status " +
  "atMs gateway pipelines waits waitsLeftOut upstream memory used connections producersLeftOut count notices limited " +
  "receiptMs missing vertices syncAgeMs syncMs queueMax client whys whysLeftOut setAt storeAgeMs held pending resume"
).split(" ");

/** Another one in every version whose keys are others; FNV-1a of them. */
export const SAMPLE_FORMAT: number = KEYS.join(" ")
  .split("")
  .reduce((hash, char) => Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0, 0x811c9dc5);

const CODES: ReadonlyMap<string, string> = new Map(
  KEYS.map((key, index) => [key, index.toString(36)]),
);

/** Before a key that has no code. */
const WHOLE = "_";

/** Before the place of a text in `texts`; before a text that begins with it, it stands twice. */
const REFERENCE = "~";

/** Shorter texts cost less than a reference to them. */
const REPEATED_MIN = 8;

/** Runs in the process that is shown. */
export function packSample(sample: LiveSample): PackedSample {
  const counts = new Map<string, number>();
  eachText(sample, (text) => {
    if (text.length >= REPEATED_MIN) counts.set(text, (counts.get(text) ?? 0) + 1);
  });
  const texts = [...counts].flatMap(([text, count]) => (count > 1 ? text : []));
  const places = new Map(texts.map((text, index) => [text, `${REFERENCE}${index}`]));
  const packed = mapped(sample, {
    key: (key) => CODES.get(key) ?? WHOLE + key,
    text: (text) => places.get(text) ?? (text.startsWith(REFERENCE) ? REFERENCE + text : text),
  });
  return { packed, texts };
}

/** Runs in the page. */
export function unpackSample({ packed, texts }: PackedSample): LiveSample {
  // The process that made it is of the same version.
  return mapped(packed, {
    key: (code) =>
      code.startsWith(WHOLE) ? code.slice(WHOLE.length) : (KEYS[parseInt(code, 36)] ?? code),
    text: (text) => {
      if (!text.startsWith(REFERENCE)) return text;
      const rest = text.slice(REFERENCE.length);
      return rest.startsWith(REFERENCE) ? rest : (texts[Number(rest)] ?? text);
    },
  }) as LiveSample;
}

interface Mapping {
  readonly key: (key: string) => string;
  readonly text: (text: string) => string;
}

function mapped(value: unknown, by: Mapping): unknown {
  if (typeof value === "string") return by.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => mapped(one, by));
  const result: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value))
    if (one !== undefined) result[by.key(key)] = mapped(one, by);
  return result;
}

function eachText(value: unknown, tell: (text: string) => void): void {
  if (typeof value === "string") tell(value);
  else if (typeof value === "object" && value !== null)
    for (const one of Object.values(value)) eachText(one, tell);
}
