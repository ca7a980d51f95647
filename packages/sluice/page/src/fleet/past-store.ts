import { effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { LivePoolPast } from "../../../src/live/live-message.ts";
import { withPresent } from "../../../src/live/pool-past.ts";
import { poolDetail, poolPast } from "../live/live-store.ts";
import { withPast } from "./model/pool-past.ts";

interface Known {
  readonly pool: string | undefined;
  readonly past: readonly LivePoolPast[];
  /** The past as it was sent that is in `past` already. */
  readonly sent?: readonly LivePoolPast[];
}

const known = signal<Known>({ pool: undefined, past: [] });

/** What the members of the watched pool held in the last 15 minutes, as far as it was sent. */
export const past: ReadonlySignal<Known> = known;

effect(() => {
  const detail = poolDetail.value;
  const sent = poolPast.value;
  if (detail === undefined) return;
  const before = known.peek();
  const old = before.pool === detail.pool ? before.past : [];
  const withSent = sent.length === 0 || before.sent === sent ? old : withPast(old, sent);
  known.value = { pool: detail.pool, past: withPresent(withSent, detail), sent };
});
