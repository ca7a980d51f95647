import type { JSX } from "preact";
import type { LivePoolPast } from "../../../../src/live/live-message.ts";
import { Canvas } from "../../chart/canvas.tsx";
import { drawHeldShares, heightOf, windowMs } from "./draw-held-shares.ts";

/** Who held a share in the last 15 minutes: a lane for each member, and their sum under the ceiling. */
export function HeldShares({
  past,
  nowMs,
}: {
  readonly past: readonly LivePoolPast[];
  readonly nowMs: number;
}): JSX.Element {
  return (
    <section class="panel" aria-labelledby="lanes-title">
      <header>
        <h2 id="lanes-title">Who held a share</h2>
        <span class="sp" />
        <span class="sub">last {windowMs(past, nowMs) / 60_000} min</span>
      </header>
      <div class="lanes">
        <Canvas
          height={heightOf(past)}
          label="A lane for each member with its states over 15 minutes, and the sum of shares under the ceiling; the table of members says how it is now"
          draw={(sheet) => drawHeldShares(sheet, past, nowMs)}
        />
        <ul class="lane-key">
          {KEY.map(([text, shape]) => (
            <li>
              <svg width="16" height="10" aria-hidden="true">
                {shape}
              </svg>
              {text}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

const KEY: readonly (readonly [string, JSX.Element])[] = [
  ["holds its share", <rect width="16" height="10" rx="2" fill="var(--water)" opacity=".55" />],
  [
    "makes room",
    <>
      <rect width="15" height="9" x=".5" y=".5" rx="2" fill="none" stroke="var(--water)" />
      <path d="M3 10 9 0M8 10 14 0" stroke="var(--water)" />
    </>,
  ],
  [
    "joining",
    <rect
      width="15"
      height="9"
      x=".5"
      y=".5"
      rx="2"
      fill="none"
      stroke="var(--control)"
      stroke-dasharray="2 1.5"
    />,
  ],
  [
    "lease ended, grants nothing",
    <rect width="16" height="10" rx="2" fill="var(--text-3)" opacity=".35" />,
  ],
  [
    "safe share",
    <>
      <rect width="15" height="9" x=".5" y=".5" rx="2" fill="none" stroke="var(--r-store)" />
      <path d="M3 10 9 0M8 10 14 0" stroke="var(--r-store)" />
    </>,
  ],
  ["ceiling", <path d="M0 5h16" stroke="var(--text)" stroke-width="2" stroke-dasharray="4 2" />],
];
