/** Requests in flight at once. Raised, many partitions open faster and load one broker more. */
const GROUP = 20;

/** Runs `work` for each item, 20 at a time. Rejects with the first error of a group once that group has ended. */
export async function inGroups<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += GROUP) {
    const results = await Promise.allSettled(items.slice(at, at + GROUP).map(work));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
}
