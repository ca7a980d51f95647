import { signal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { systemClock } from "@sluice/core/system";
import { latest } from "../live/live-store.ts";
import { reasonsOf } from "../words/wait/wait-facts.ts";

/** The shortest time between two announcements, ms. */
const QUIET_MS = 5_000;

const said = signal("");

/** The live region: it speaks only when the set of reasons changes. */
export function Announcer(): JSX.Element {
  const last = useRef({ key: "", atMs: -Infinity });
  useSignalEffect(() => {
    const sample = latest.value;
    if (sample === undefined) return;
    const reasons = reasonsOf(sample.waits);
    const key = reasons.join(" ");
    const nowMs = systemClock.now();
    // A change within the quiet time is said with the first sample after it.
    if (key === last.current.key || nowMs - last.current.atMs < QUIET_MS) return;
    last.current = { key, atMs: nowMs };
    const count = sample.waits.length + sample.waitsLeftOut;
    said.value =
      reasons.length === 0
        ? "Nothing waits"
        : `${count} ${count === 1 ? "thing waits" : "things wait"}: ${reasons.join(", ")}`;
  });
  return (
    <div class="sr" aria-live="polite">
      {said.value}
    </div>
  );
}
