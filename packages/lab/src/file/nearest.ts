/** Longer names are not compared: the table of distances grows with the square. */
const LENGTH_MAX = 64;

/** The known word that a misspelt one may stand for: the nearest within a third of its letters. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  if (word.length > LENGTH_MAX) return undefined;
  const near = known
    .map((candidate) => ({
      candidate,
      distance: editDistance(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)));
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Letters to insert, remove or replace, at least (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
