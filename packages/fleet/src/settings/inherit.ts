import { ConfigError } from "@sluice/core";
import { entriesOf, show } from "./settings-map.ts";

/** A block as it was written, not read yet. */
export type RawBlock = Readonly<Record<string, unknown>>;

/**
 * The block of an inner level with what it leaves out taken from the outer one, field by field and
 * before any default is filled in, to be read as one. Undefined if neither is there.
 *
 * The fields of a mode are inherited by the same mode; another mode starts from its defaults. A
 * store is inherited whole: a mix of two stores would be one that no block describes.
 */
export function inheritRateLimit(parent: unknown, child: unknown): RawBlock | undefined {
  const outer = blockOf(parent, "the outer rateLimit");
  const inner = blockOf(child, "the inner rateLimit");
  if (outer === undefined || inner === undefined) return inner ?? outer;
  // Two names of one setting: what the inner level says by either hides both of the outer one.
  const hidden = TTL_NAMES.some((name) => Object.hasOwn(inner, name)) ? TTL_NAMES : [];
  const inherited = Object.entries(outer).filter(([key]) => !hidden.includes(key));
  const modes = inheritModes(outer["modes"], inner["modes"]);
  return {
    ...Object.fromEntries(inherited),
    ...inner,
    ...(modes === undefined ? {} : { modes }),
  };
}

const TTL_NAMES: readonly string[] = ["ttl", "resumeTtl"];

function inheritModes(parent: unknown, child: unknown): unknown {
  const outer = entriesOf(parent);
  const inner = entriesOf(child);
  // What is no map is left for the reader to refuse.
  if (child !== undefined && inner === undefined) return child;
  if (inner === undefined || inner.length === 0) return parent ?? child;
  const [mode] = inner;
  if (mode === undefined || inner.length > 1) return child;
  const [name, fields] = mode;
  const same = entriesOf(outer?.find(([each]) => each === name)?.[1]);
  const given = entriesOf(fields);
  if (same === undefined || given === undefined) return child;
  return { [name]: Object.fromEntries([...same, ...given]) };
}

function blockOf(value: unknown, what: string): RawBlock | undefined {
  if (value === undefined) return undefined;
  const entries = entriesOf(value);
  if (entries !== undefined) return Object.fromEntries(entries);
  throw new ConfigError(`${what} is ${show(value)}; it must be a map`);
}
