/** One message at the service. */
export interface Arrival {
  readonly id: number;
  /** The process that sent it. */
  readonly replica: string;
  /** By the wall clock. */
  readonly atMs: number;
  /** When the replica's map had it, by the wall clock: soon after its token was taken. */
  readonly mappedAtMs: number;
}

/** A second delivery of a message. */
export interface Duplicate {
  readonly id: number;
  /** The process of the first delivery. */
  readonly replica: string;
  /** From the first delivery to the kill of its replica, ms; undefined if that was not killed. */
  readonly beforeKillMs: number | undefined;
}

/** The most instants within any sliding second, and the instant at which that second ends. */
export function fullestSecond(instantsMs: readonly number[]): {
  readonly count: number;
  readonly endMs: number;
} {
  const sorted = instantsMs.toSorted((a, b) => a - b);
  let fullest = { count: 0, endMs: Number.NaN };
  let first = 0;
  for (const [index, atMs] of sorted.entries()) {
    while ((sorted[first] ?? atMs) <= atMs - 1000) first++;
    const count = index - first + 1;
    if (count > fullest.count) fullest = { count, endMs: atMs };
  }
  return fullest;
}

/** How long the messages of one second were on their way from the map to the service, ms, by replica: the median. */
export function waysOf(
  arrivals: readonly Arrival[],
  endMs: number,
): Readonly<Record<string, number>> {
  const ways = new Map<string, number[]>();
  for (const { replica, atMs, mappedAtMs } of arrivals)
    if (atMs > endMs - 1000 && atMs <= endMs)
      ways.set(replica, [...(ways.get(replica) ?? []), atMs - mappedAtMs]);
  return Object.fromEntries(
    [...ways].map(([replica, ms]) => [replica, ms.toSorted((a, b) => a - b)[ms.length >> 1] ?? 0]),
  );
}

/** Instants in each whole second from one instant to another. */
export function perSecondCounts(
  instantsMs: readonly number[],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): readonly number[] {
  const counts = Array.from({ length: Math.floor((untilMs - fromMs) / 1000) }, () => 0);
  for (const atMs of instantsMs) {
    const second = Math.floor((atMs - fromMs) / 1000);
    if (second >= 0 && second < counts.length) counts[second] = (counts[second] ?? 0) + 1;
  }
  return counts;
}

/** Instants a second from one instant to another. */
export function meanRate(
  instantsMs: readonly number[],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): number {
  const within = instantsMs.filter((atMs) => atMs >= fromMs && atMs < untilMs).length;
  return (within * 1000) / (untilMs - fromMs);
}

export function duplicatesOf(
  arrivals: readonly Arrival[],
  killedAtMs: ReadonlyMap<string, number>,
): readonly Duplicate[] {
  const before = new Map<number, Arrival>();
  const found: Duplicate[] = [];
  for (const arrival of arrivals) {
    const { id } = arrival;
    const former = before.get(id);
    before.set(id, arrival);
    if (former === undefined) continue;
    const { replica, atMs } = former;
    const killedMs = killedAtMs.get(replica);
    found.push({ id, replica, beforeKillMs: killedMs && killedMs - atMs });
  }
  return found;
}

/** The largest number of duplicates that one replica left. */
export function mostOfOneReplica(duplicates: readonly Duplicate[]): number {
  const counts = new Map<string, number>();
  for (const { replica } of duplicates) counts.set(replica, (counts.get(replica) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}
