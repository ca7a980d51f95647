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

/** The Levenshtein distance: characters to insert, delete or replace. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const exchanged = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(exchanged, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
