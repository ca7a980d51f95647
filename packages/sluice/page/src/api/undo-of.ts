/** A limit that can be set while the flow runs: its path behind `/api/limits/`, and the keys of its body. */
export interface LimitChange {
  /** Such as `topic/public%2Fdefault%2Forders`. */
  readonly path: string;
  readonly body: Readonly<Record<string, number | string | boolean>>;
}

/** The values that a limit had before a change, as the administration answers them. */
export type Rates = Readonly<Record<string, unknown>>;

/** Keys of a publish limit. A body replaces all of it, so a key that is left out is not limited any more. */
const PUBLISH_KEYS = ["messages", "bytes"];

/** The change that brings back what was there before; a limit that did not exist is removed. */
export function undoOf({ path, body }: LimitChange, from: Rates | null): LimitChange | "unset" {
  if (from === null) return "unset";
  if ("unlimited" in body || PUBLISH_KEYS.some((key) => key in body)) {
    const before = valuesOf(PUBLISH_KEYS, from);
    return { path, body: Object.keys(before).length === 0 ? { unlimited: true } : before };
  }
  const before = valuesOf(Object.keys(body), {
    ...(from["rateLimit"] as Rates | null | undefined),
    ...from,
  });
  return Object.keys(before).length === 0 ? "unset" : { path, body: before };
}

function valuesOf(keys: readonly string[], from: Rates): LimitChange["body"] {
  return Object.fromEntries(
    keys.flatMap((key): (readonly [string, number | string])[] => {
      const value = from[key];
      return typeof value === "number" || typeof value === "string" ? [[key, value]] : [];
    }),
  );
}
