import type { LiveMember, LivePoolPast } from "../../../../src/live/live-message.ts";
import { boundedPast, LOOK_MS } from "../../../../src/live/pool-past.ts";

/** A gap between two looks that is longer was not seen, ms. */
const GAP_MS = 20_000;
/** A large pool is looked at less often: a gap may be this much longer for each member, ms. */
const GAP_PER_MEMBER_MS = 1_000;

type State = LiveMember["state"];

/** What members held in the last 15 minutes, as far as it was seen; oldest first. */
export function withPast(
  known: readonly LivePoolPast[],
  more: readonly LivePoolPast[],
): readonly LivePoolPast[] {
  const byTime = new Map([...more, ...known].map((look) => [look.atMs, look]));
  return boundedPast([...byTime.values()].toSorted((a, b) => a.atMs - b.atMs));
}

/** A time in which a member had one state. */
export interface Span {
  readonly state: State;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The states of each member over time, those that came first on top. */
export function spansOf(
  past: readonly LivePoolPast[],
): readonly { readonly id: string; readonly spans: readonly Span[]; readonly isHere: boolean }[] {
  const spans = new Map<string, Span[]>();
  for (const [index, { atMs, members }] of past.entries()) {
    const nextMs = past[index + 1]?.atMs ?? atMs;
    const gapMs = Math.max(GAP_MS, members.length * GAP_PER_MEMBER_MS);
    const toMs = nextMs - atMs > gapMs ? atMs + LOOK_MS : nextMs;
    for (const { id, state } of members) {
      if (state === "left") continue;
      const all = spans.get(id) ?? [];
      const last = all.at(-1);
      if (last !== undefined && last.state === state && last.toMs >= atMs)
        all[all.length - 1] = { ...last, toMs };
      else all.push({ state, fromMs: atMs, toMs });
      spans.set(id, all);
    }
  }
  const here = new Set(
    past.at(-1)?.members.flatMap(({ id, state }) => (state === "left" ? [] : id)),
  );
  return [...spans].map(([id, all]) => ({ id, spans: all, isHere: here.has(id) }));
}
