import type { TopicStats } from "../../topic/topic-stats.ts";

/** The topics with the most entries to consume, those with the most first. */
export function largestBacklogs(
  topics: readonly TopicStats[],
  countMax: number,
): readonly TopicStats[] {
  const counted = topics.map((stats) => ({ stats, entries: backlogOf(stats) }));
  const largestFirst = counted.toSorted((a, b) => b.entries - a.entries);
  return largestFirst.slice(0, countMax).map(({ stats }) => stats);
}

/** Entries that are not acknowledged, of all subscriptions of a topic. */
export function backlogOf({ subscriptions }: TopicStats): number {
  return subscriptions.reduce((sum, { backlogEntries }) => sum + backlogEntries, 0);
}
