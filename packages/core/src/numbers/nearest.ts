/** Longest word that is compared, in characters; bounds the time that a comparison takes. */
const LENGTH_MAX = 40;

/**
 * The word of `known` with the fewest edits from a mistyped word; undefined if each needs more than
 * a third of the word's length. Case, `_` and `-` are no edits.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LENGTH_MAX) return undefined;
  let best: string | undefined;
  let least = Math.floor(Math.max(3, word.length) / 3) + 1;
  for (const candidate of known) {
    const edits = editsBetween(plain(word), plain(candidate));
    if (edits >= least) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

function plain(word: string): string {
  return word.replaceAll(/[_-]/g, "").toLowerCase();
}

/** The optimal string alignment distance: characters to insert, delete or replace, and neighbours to swap. */
function editsBetween(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
