/**
 * Performs `count` operations and returns how many did what they should: what is returned depends
 * on every single one, so that none can be optimised away.
 */
export type Loop = (count: number) => number | Promise<number>;

export interface Slices {
  /** CPU time that one slice takes at least. */
  readonly sliceMs: number;
  readonly slices: number;
}

/** Counts start here and double, so every count is a multiple of it. */
const FIRST_COUNT = 1_000;

/**
 * Operations per CPU second of each loop, in its best slice.
 *
 * CPU time, because on a shared machine wall time tells of the neighbours; the best slice, because
 * neighbours that share a cache or a core only ever make a slice slower. The loops take turns, so
 * that a change of the processor's speed meets them all.
 */
export async function measure<Name extends string>(
  loops: Readonly<Record<Name, Loop>>,
  { sliceMs, slices }: Slices,
): Promise<Record<Name, number>> {
  const names = Object.keys(loops) as Name[];
  const counts = new Map<Name, number>();
  const best = {} as Record<Name, number>;
  for (const name of names) {
    counts.set(name, await countFor(sliceMs, loops[name]));
    best[name] = 0;
  }
  for (let slice = 0; slice < slices; slice++) {
    for (const [name, count] of counts) {
      const perSecond = (count / (await cpuMsOf(loops[name], count))) * 1000;
      best[name] = Math.max(best[name], perSecond);
    }
  }
  return best;
}

/**
 * The count that takes `sliceMs`; finding it is also the warm-up. It must do so twice, because the
 * first time may have been long only for running before it was compiled.
 */
async function countFor(sliceMs: number, loop: Loop): Promise<number> {
  let count = FIRST_COUNT;
  for (;;) {
    const first = await cpuMsOf(loop, count);
    const second = await cpuMsOf(loop, count);
    if (Math.min(first, second) >= sliceMs) return count;
    count *= 2;
  }
}

/** CPU time of `count` operations, user and system, of this process. */
export async function cpuMsOf(loop: Loop, count: number): Promise<number> {
  const before = process.cpuUsage();
  const done = await loop(count);
  const { user, system } = process.cpuUsage(before);
  if (done !== count) throw new Error(`${done} of ${count} operations did what they should`);
  return (user + system) / 1000;
}
