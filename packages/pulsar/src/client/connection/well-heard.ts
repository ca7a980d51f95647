import { setMaxListeners } from "node:events";

/**
 * A signal that many may listen to: partitions are opened many at a time, and Node would warn of the
 * eleventh as of a leak.
 */
export function wellHeard(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}
