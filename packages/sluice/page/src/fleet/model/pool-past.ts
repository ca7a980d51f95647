import type {
  LiveMember,
  LivePoolDetail,
  LivePoolPast,
} from "../../../../src/live/live-message.ts";

export const PAST_MS = 15 * 60_000;
/** Looks that are kept: 15 minutes with one every two seconds, and some more where states changed. */
const LOOKS_MAX = 900;
/** A state that has not changed is looked at this often, ms; more often would show no more. */
const LOOK_MS = 2_000;
/** A gap between two looks that is longer was not seen, ms. */
const GAP_MS = 20_000;

type State = LiveMember["state"];

/** What members held in the last 15 minutes, as far as it was seen; oldest first. */
export function withPast(
  known: readonly LivePoolPast[],
  more: readonly LivePoolPast[],
): readonly LivePoolPast[] {
  const byTime = new Map([...more, ...known].map((look) => [look.atMs, look]));
  return bounded([...byTime.values()].toSorted((a, b) => a.atMs - b.atMs));
}

/** Adds the present, unless it shows what the last look has shown just now. */
export function withPresent(
  known: readonly LivePoolPast[],
  detail: LivePoolDetail,
): readonly LivePoolPast[] {
  const look: LivePoolPast = {
    atMs: detail.atMs,
    ceiling: detail.share.ceiling,
    // Without an answer of the store the others are not seen: their lanes end.
    members: detail.members
      .filter(({ state, isThis }) => state !== "left" && (isThis || detail.store.isAnswering))
      .map(({ id, share, state }) => ({ id, share, state })),
  };
  const last = known.at(-1);
  if (last !== undefined && look.atMs <= last.atMs) return known;
  const isSame = last !== undefined && statesOf(last) === statesOf(look);
  if (isSame && look.atMs - last.atMs < LOOK_MS) return known;
  return bounded([...known, look]);
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
    const toMs = nextMs - atMs > GAP_MS ? atMs + LOOK_MS : nextMs;
    for (const { id, state } of members) {
      const all = spans.get(id) ?? [];
      const last = all.at(-1);
      if (last !== undefined && last.state === state && last.toMs >= atMs)
        all[all.length - 1] = { ...last, toMs };
      else all.push({ state, fromMs: atMs, toMs });
      spans.set(id, all);
    }
  }
  const here = new Set(past.at(-1)?.members.map(({ id }) => id));
  return [...spans].map(([id, all]) => ({ id, spans: all, isHere: here.has(id) }));
}

function bounded(past: readonly LivePoolPast[]): readonly LivePoolPast[] {
  const oldest = (past.at(-1)?.atMs ?? 0) - PAST_MS;
  return past.filter(({ atMs }) => atMs >= oldest).slice(-LOOKS_MAX);
}

function statesOf({ members }: LivePoolPast): string {
  return members.map(({ id, state }) => `${id} ${state}`).join();
}
