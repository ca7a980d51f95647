import { nextTurn } from "@sluice/core/system";
import { cpuMs } from "./cpu-time.ts";

/**
 * The most CPU time of this process in one turn of the event loop, in ms, while something is done. The wall clock would
 * also count what other processes of a busy machine do meanwhile: 259 ms for a turn of 30.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  const done = new AbortController();
  const watch = async (): Promise<number> => {
    let longest = 0;
    for (let last = cpuMs(); !done.signal.aborted;) {
      await nextTurn();
      const now = cpuMs();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  };
  const watched = watch();
  try {
    await work();
  } finally {
    done.abort();
  }
  return watched;
}
