import { nextTurn } from "@sluice/core/system";
import { collectGarbage } from "./garbage.ts";
import { KEYS, KeyWalk } from "./key-walk.ts";
import { loopOver } from "./many-keys.ts";
import type { Touch } from "./many-keys.ts";

/** Touched beforehand, so that code and structures made once are not counted. */
const KEYS_BEFORE = 1_000;

/** Bytes that one key costs, without the key's own string, which the caller holds anyway. */
export async function bytesPerKey(touch: Touch): Promise<number> {
  const loop = loopOver(new KeyWalk(), touch);
  await loop(KEYS_BEFORE);
  const before = await bytesHeld();
  await loop(KEYS - KEYS_BEFORE);
  const after = await bytesHeld();
  // A second visit keeps the limiter reachable until after the last reading.
  await loop(1);
  return (after - before) / (KEYS - KEYS_BEFORE);
}

/** `external` counts array buffers too. */
async function bytesHeld(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
