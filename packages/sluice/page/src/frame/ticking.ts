import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { systemClock, systemTimer } from "@sluice/core/system";

const SECOND_MS = 1_000;
const now = signal(systemClock.now());

/** `systemClock`, read once a second: for words such as "no connection for 14 s". */
export const nowMs: ReadonlySignal<number> = now;

export async function startTicking(): Promise<void> {
  for (;;) {
    await systemTimer.sleep(SECOND_MS);
    now.value = systemClock.now();
  }
}
