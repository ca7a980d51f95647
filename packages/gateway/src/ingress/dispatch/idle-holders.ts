import type { DispatchConsumer } from "./dispatch-consumer.ts";
import type { DispatchLevel } from "./dispatch-level.ts";

/**
 * How long permits are unused before they are taken back for others, ms; also the time between two such
 * rounds of a level. Raised, an idle consumer keeps tokens from others for longer; lowered, idle
 * consumers that share a small limit cost more work.
 */
export const RECLAIM_MS = 100;

/** Consumers of a level that are looked at in one round: bounds the work, at 2,560 consumers a second. */
const LOOKS_MAX = 256;

/**
 * The consumers whose unused permits keep `waiter`, the next of this level, waiting; none before
 * `nextReclaimMs`. Of consumers that hold a probe as many as wait for one, else all that hold permits if
 * they leave too little of the capacity.
 */
export function idleHolders(
  level: DispatchLevel,
  waiter: DispatchConsumer | undefined,
  nowMs: number,
): readonly DispatchConsumer[] {
  if (nowMs < level.nextReclaimMs) return [];
  if (lacksProbes(level)) {
    const probes = idleProbes(level, Math.min(LOOKS_MAX, level.turns.probing), nowMs);
    if (probes.length > 0) return probes;
  }
  if (waiter === undefined || !level.isCrowdedFor(waiter)) return [];
  const holders = idleOf(level.holders, nowMs);
  return holders.length > 0 ? holders : idleProbes(level, LOOKS_MAX, nowMs);
}

/** When `idleHolders` may have some; Infinity if unused permits keep no consumer waiting. */
export function nextIdleMs(
  level: DispatchLevel,
  waiter: DispatchConsumer | undefined,
  nowMs: number,
): number {
  const { probes, holders } = level;
  const isCrowded = waiter !== undefined && level.isCrowdedFor(waiter);
  if (probes.size + holders.size === 0 || !(isCrowded || lacksProbes(level))) return Infinity;
  const oldest = probes.values().next().value;
  const usedAtMs = oldest === undefined || holders.size > 0 ? nowMs : oldest.usedAtMs;
  return Math.max(level.nextReclaimMs, usedAtMs + RECLAIM_MS);
}

/** They stand in the order in which they got their probes. */
function idleProbes(level: DispatchLevel, most: number, nowMs: number): DispatchConsumer[] {
  const idle: DispatchConsumer[] = [];
  for (const consumer of level.probes) {
    if (idle.length >= most || nowMs - consumer.usedAtMs < RECLAIM_MS) break;
    idle.push(consumer);
  }
  return idle;
}

/** Busy ones go to the end, so that the next round looks at others. */
function idleOf(holders: Set<DispatchConsumer>, nowMs: number): DispatchConsumer[] {
  const idle: DispatchConsumer[] = [];
  let looks = Math.min(LOOKS_MAX, holders.size);
  for (const consumer of holders) {
    if (looks-- === 0) break;
    if (nowMs - consumer.usedAtMs >= RECLAIM_MS) idle.push(consumer);
    else if (holders.delete(consumer)) holders.add(consumer);
  }
  return idle;
}

function lacksProbes(level: DispatchLevel): boolean {
  return level.turns.probing > 0 && !level.mayProbe;
}
