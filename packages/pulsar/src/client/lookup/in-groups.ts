/** So many requests are under way at once. */
const GROUP = 20;

/** Does `work` for each item, a few at a time. Rejects with the first error when all have ended. */
export async function inGroups<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += GROUP) {
    const results = await Promise.allSettled(items.slice(at, at + GROUP).map(work));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
}
