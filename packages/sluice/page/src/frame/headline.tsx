import type { ComponentChildren, JSX } from "preact";
import { systemClock, systemWallClock } from "@sluice/core/system";
import { lastHeardAtMs, latest, pin, pinnedAtMs, shown } from "../live/live-store.ts";
import { Icon } from "../parts/icon.tsx";
import { clockTime } from "../words/clock-time.ts";
import { durationText } from "../words/numbers.ts";
import { lostForMs } from "./connection-badge.tsx";

/** The sentence that a page opens with, and the instant that it is of. Without children: loading. */
export function Headline({ children }: { readonly children?: ComponentChildren }): JSX.Element {
  return (
    <div class="headline">
      {children === undefined ? (
        <h1>
          <div class="skeleton" />
          <span class="sr">Loading</span>
        </h1>
      ) : (
        <h1>{children}</h1>
      )}
      <div class="side">
        <Instant />
      </div>
    </div>
  );
}

function Instant(): JSX.Element | null {
  const sample = shown.value;
  if (sample === undefined) return null;
  const newest = latest.value?.atMs ?? sample.atMs;
  if (pinnedAtMs.value !== undefined)
    return (
      <>
        <Icon name="retry-after" size={13} />
        <b class="strong num">{clockTime(sample.atMs, newest)}</b>
        <span class="num">{durationText(Math.max(0, newest - sample.atMs))} ago</span>
        <button class="btn small" type="button" onClick={() => pin(undefined)}>
          Back to live <span class="kbd">Esc</span>
        </button>
      </>
    );
  if (lostForMs.value !== undefined) {
    const ageMs = systemClock.now() - (lastHeardAtMs.value ?? 0);
    return <span class="num">as of {clockTime(systemWallClock.now() - ageMs)}</span>;
  }
  return <span class="num">{clockTime(sample.atMs)}</span>;
}
