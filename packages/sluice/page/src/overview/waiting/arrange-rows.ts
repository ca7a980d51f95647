import type { LiveWait } from "../../../../src/live/live-message.ts";

export interface ArrangedRow {
  readonly wait: LiveWait;
  /** The wait is over, but the row keeps its place. */
  readonly isOver: boolean;
}

export interface Arranged {
  readonly rows: readonly ArrangedRow[];
  /** Rows that came while the list was held. */
  readonly more: number;
}

interface Held {
  /** The pointer is over the list, or the focus in it: rows keep their place. */
  readonly isHeld: boolean;
  /** Rows with a value that is not applied yet: they stay, whatever happens. */
  readonly dirty: ReadonlySet<string>;
}

/** The rows to show, given those that were shown before. */
export function arrangeRows(
  before: readonly ArrangedRow[],
  waits: readonly LiveWait[],
  { isHeld, dirty }: Held,
): Arranged {
  const now = new Map(waits.map((wait) => [wait.key, wait]));
  const kept = before.filter(({ wait }) => isHeld || dirty.has(wait.key));
  const held = kept.map(({ wait }): ArrangedRow => {
    const same = now.get(wait.key);
    return same === undefined ? { wait, isOver: true } : { wait: same, isOver: false };
  });
  if (isHeld && before.length > 0) {
    const shown = new Set(before.map(({ wait }) => wait.key));
    return { rows: held, more: waits.filter(({ key }) => !shown.has(key)).length };
  }
  const over = held.filter(({ isOver }) => isOver);
  return { rows: [...waits.map((wait) => ({ wait, isOver: false })), ...over], more: 0 };
}
