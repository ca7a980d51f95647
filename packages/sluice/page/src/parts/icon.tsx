import type { JSX } from "preact";
import { still } from "./still.ts";

/**
 * Every reason and every state has a shape of its own, in a box of 14 by 14. Made anew for each icon: an element that is
 * kept remembers the tree it was last in, and that tree the one before.
 */
const SHAPES = {
  "topic-rate": () => (
    <>
      <path d="M1.5 2.2h11" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
      <rect x="5" y="4.4" width="4" height="8" rx=".8" fill="currentColor" />
    </>
  ),
  "group-rate": () => (
    <>
      <path d="M1.5 2.2h11" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
      <rect x="2.6" y="4.4" width="3.6" height="8" rx=".8" fill="currentColor" />
      <rect x="7.8" y="4.4" width="3.6" height="8" rx=".8" fill="currentColor" />
    </>
  ),
  "broker-rate": () => (
    <>
      <path d="M1.5 2.2h11" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
      <rect x="1.5" y="4.4" width="2.6" height="8" rx=".7" fill="currentColor" />
      <rect x="5.7" y="4.4" width="2.6" height="8" rx=".7" fill="currentColor" />
      <rect x="9.9" y="4.4" width="2.6" height="8" rx=".7" fill="currentColor" />
    </>
  ),
  "connection-pending": () => (
    <>
      <circle cx="2.4" cy="7" r="1.6" fill="currentColor" />
      <circle cx="6.3" cy="7" r="1.6" fill="currentColor" />
      <circle cx="10" cy="7" r="1.6" fill="currentColor" />
      <path d="M13 2.5v9" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
    </>
  ),
  memory: () => (
    <>
      <rect
        x="1.8"
        y="1.8"
        width="10.4"
        height="10.4"
        rx="1.6"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
      />
      <rect x="4.4" y="4.4" width="5.2" height="5.2" rx=".8" fill="currentColor" />
    </>
  ),
  "fleet-share": () => (
    <>
      <circle cx="7" cy="7" r="5.3" fill="none" stroke="currentColor" stroke-width="1.5" />
      <path d="M7 7V1.7A5.3 5.3 0 0 1 12.3 7z" fill="currentColor" />
    </>
  ),
  concurrency: () => (
    <>
      <path
        d="M1.5 3.5h11M1.5 7h11M1.5 10.5h11"
        stroke="currentColor"
        stroke-width="1.9"
        stroke-linecap="round"
      />
    </>
  ),
  "peer-busy": () => (
    <>
      <circle cx="7" cy="7" r="5.8" fill="currentColor" />
      <path d="M3.8 7h6.4" stroke="var(--surface)" stroke-width="2" />
    </>
  ),
  "retry-after": () => (
    <>
      <circle cx="7" cy="7" r="5.3" fill="none" stroke="currentColor" stroke-width="1.5" />
      <path
        d="M7 3.8V7l2.2 1.6"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </>
  ),
  "store-lost": () => (
    <>
      <path
        d="M2.4 3.6v6.8c0 1 2 1.9 4.6 1.9s4.6-.9 4.6-1.9V3.6"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
      <ellipse
        cx="7"
        cy="3.4"
        rx="4.6"
        ry="1.8"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
      <path
        d="M1.4 12.8 12.6 1.6"
        stroke="currentColor"
        stroke-width="1.7"
        stroke-linecap="round"
      />
    </>
  ),
  flowing: () => (
    <>
      <path
        d="M1 5c1.5-1.6 2.5-1.6 4 0s2.5 1.6 4 0 2.5-1.6 4 0M1 9.4c1.5-1.6 2.5-1.6 4 0s2.5 1.6 4 0 2.5-1.6 4 0"
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
      />
    </>
  ),
  throttled: () => (
    <>
      <path
        d="M2 1.5v11M12 1.5v11"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
      />
      <rect x="3.6" y="1.6" width="6.8" height="6" rx=".6" fill="currentColor" />
      <path
        d="M4 11c1.2-1.2 1.8-1.2 3 0s1.8 1.2 3 0"
        fill="none"
        stroke="currentColor"
        stroke-width="1.3"
        stroke-linecap="round"
      />
    </>
  ),
  paused: () => (
    <>
      <rect x="2.6" y="2" width="3.2" height="10" rx="1" fill="currentColor" />
      <rect x="8.2" y="2" width="3.2" height="10" rx="1" fill="currentColor" />
    </>
  ),
  error: () => (
    <>
      <path
        d="M7 1.6 13 12.2H1z"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linejoin="round"
      />
      <path
        d="M7 5.6v3M7 10.4v.1"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
      />
    </>
  ),
  idle: () => (
    <>
      <path d="M2.5 7h9" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
    </>
  ),
  ok: () => (
    <>
      <path
        d="M2 7.6 5.4 11 12 3.6"
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </>
  ),
  told: () => (
    <>
      <path
        d="M7 1.8a3.6 3.6 0 0 1 3.6 3.6c0 3 1.3 3.9 1.3 3.9H2.1s1.3-.9 1.3-3.9A3.6 3.6 0 0 1 7 1.8zM5.6 11.4a1.5 1.5 0 0 0 2.8 0"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linejoin="round"
      />
    </>
  ),
  held: () => (
    <>
      <path
        d="M2 2v9.2c0 .5.4.8.8.8h8.4c.4 0 .8-.3.8-.8V2"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
      />
      <path d="M3.6 7h6.8v3.4H3.6z" fill="currentColor" />
    </>
  ),
  sun: () => (
    <>
      <circle cx="7" cy="7" r="2.7" fill="none" stroke="currentColor" stroke-width="1.4" />
      <path
        d="M7 .8v1.4M7 11.8v1.4M.8 7h1.4M11.8 7h1.4M2.6 2.6l1 1M10.4 10.4l1 1M11.4 2.6l-1 1M3.6 10.4l-1 1"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
      />
    </>
  ),
  moon: () => (
    <>
      <path
        d="M12 8.4A5.2 5.2 0 0 1 5.6 2a5.2 5.2 0 1 0 6.4 6.4z"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linejoin="round"
      />
    </>
  ),
  lock: () => (
    <>
      <rect
        x="2.6"
        y="6.2"
        width="8.8"
        height="6"
        rx="1.3"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
      <path
        d="M4.6 6V4.4a2.4 2.4 0 0 1 4.8 0V6"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
    </>
  ),
  pen: () => (
    <>
      <path
        d="m2 12 .6-2.8L9.4 2.4a1 1 0 0 1 1.4 0l.8.8a1 1 0 0 1 0 1.4L4.8 11.4z"
        fill="none"
        stroke="currentColor"
        stroke-width="1.3"
        stroke-linejoin="round"
      />
    </>
  ),
  plus: () => (
    <>
      <path d="M7 3v8M3 7h8" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
    </>
  ),
  minus: () => (
    <>
      <path d="M3 7h8" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
    </>
  ),
  link: () => (
    <>
      <path
        d="M5.8 8.2a2.4 2.4 0 0 0 3.4 0l2-2a2.4 2.4 0 0 0-3.4-3.4l-.7.7M8.2 5.8a2.4 2.4 0 0 0-3.4 0l-2 2a2.4 2.4 0 0 0 3.4 3.4l.7-.7"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
      />
    </>
  ),
  down: () => (
    <>
      <path
        d="M7 2v7.4M3.8 6.4 7 9.6l3.2-3.2M2.4 12.2h9.2"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </>
  ),
  chev: () => (
    <>
      <path
        d="m5 3 4 4-4 4"
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </>
  ),
  undo: () => (
    <>
      <path
        d="M3 5.5h5.5a3 3 0 0 1 0 6H5M5.2 3 2.6 5.5 5.2 8"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </>
  ),
  store: () => (
    <>
      <path
        d="M2.4 3.6v6.8c0 1 2 1.9 4.6 1.9s4.6-.9 4.6-1.9V3.6"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
      <ellipse
        cx="7"
        cy="3.4"
        rx="4.6"
        ry="1.8"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
      <path
        d="M2.4 7c0 1 2 1.9 4.6 1.9S11.6 8 11.6 7"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
      />
    </>
  ),
  cut: () => (
    <>
      <path d="M7 12 2 3h10z" fill="currentColor" />
    </>
  ),
  rate: () => (
    <>
      <path d="M1.5 2.2h11" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
      <path
        d="M7 4.6c1.9 2.3 2.9 3.8 2.9 5.2a2.9 2.9 0 0 1-5.8 0c0-1.4 1-2.9 2.9-5.2z"
        fill="currentColor"
      />
    </>
  ),
} as const satisfies Readonly<Record<string, () => JSX.Element>>;

export type IconName = keyof typeof SHAPES;

export const Icon = still(function Icon({
  name,
  size = 14,
  class: classes = "",
}: {
  readonly name: IconName;
  readonly size?: number;
  readonly class?: string;
}): JSX.Element {
  return (
    <svg
      class={`icon ${classes}`}
      width={size}
      height={size}
      viewBox="0 0 14 14"
      aria-hidden="true"
    >
      {SHAPES[name]()}
    </svg>
  );
});

export function Logo(): JSX.Element {
  return (
    <svg class="icon" width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
      <path
        d="M4 2.5v17M18 2.5v17"
        stroke="currentColor"
        stroke-width="2.2"
        stroke-linecap="round"
      />
      <rect x="6.6" y="3.2" width="8.8" height="7.6" rx="1.2" fill="currentColor" />
      <path
        d="M6 14.6c1.7-1.7 3.3-1.7 5 0s3.3 1.7 5 0M6 18.6c1.7-1.7 3.3-1.7 5 0s3.3 1.7 5 0"
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
      />
    </svg>
  );
}
