import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";

/** Frames a second of the drops; more would cost without being seen. */
const FRAME_MS = 1_000 / 31;

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const wanted = signal(!reduced.matches);
reduced.addEventListener("change", () => {
  wanted.value = !reduced.matches;
});

/** Whether things may move at all. */
export const isMotionWanted: ReadonlySignal<boolean> = wanted;

/** Draws at 30 frames a second until it is ended. In a hidden tab the browser gives no frames. */
export function animate(draw: (seconds: number) => void): () => void {
  let lastMs = 0;
  let frame = 0;
  const step = (atMs: number): void => {
    frame = requestAnimationFrame(step);
    if (atMs - lastMs < FRAME_MS) return;
    lastMs = atMs;
    draw(atMs / 1_000);
  };
  frame = requestAnimationFrame(step);
  return () => cancelAnimationFrame(frame);
}
