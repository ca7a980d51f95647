import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export interface Heap {
  /** Bytes of reachable objects. */
  readonly used: number;
  /** Bytes of buffers outside of the heap. */
  readonly external: number;
}

export function heapNow(): Heap {
  collect();
  const { heapUsed: used, external } = process.memoryUsage();
  return { used, external };
}
