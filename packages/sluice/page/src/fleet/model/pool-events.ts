import type { LivePoolPast } from "../../../../src/live/live-message.ts";
import { countText } from "../../words/numbers.ts";

/** Something that has changed a pool, as its looks tell. */
export interface PoolEvent {
  readonly atMs: number;
  readonly kind: "joined" | "left" | "stopped" | "returned" | "limit" | "lost" | "back" | "empty";
  /** The member, or for a limit what it was and is; empty for the store. */
  readonly of: string;
}

/** Events that are one label on the chart: those of a rolling redeploy, say. */
export interface EventLabel {
  readonly atMs: number;
  readonly text: string;
}

/** A member that did not leave has stopped when it was missing this long, ms: a store that lost its data has all back sooner. */
const MISSING_MS = 10_000;
/** Events of one label are at most this part of the chart apart: about the width of a word. */
const TOGETHER = 0.045;

/** What happened to a pool between its looks, oldest first. The first look only tells who was there. */
export function eventsOf(past: readonly LivePoolPast[]): readonly PoolEvent[] {
  const events: PoolEvent[] = [];
  /** Members that are there, and since when they are not seen. */
  const here = new Map<string, { isStopped: boolean; missingSinceMs?: number | undefined }>();
  let before: LivePoolPast | undefined;
  let isFirst = true;
  let wasLost = false;
  for (const look of past) {
    const { atMs, members, max } = look;
    const tell = (kind: PoolEvent["kind"], of = ""): void => void events.push({ atMs, kind, of });
    const isLost = members.some((one) => one.isThis === true && one.state === "safe-share");
    if (isLost !== wasLost && before !== undefined) tell(isLost ? "lost" : "back");
    wasLost = isLost;
    if (look.isLearning === true && before !== undefined && before.isLearning !== true)
      tell("empty");
    if (before?.max !== undefined && max !== undefined && before.max !== max)
      tell("limit", `${countText(before.max)} → ${countText(max)}`);
    before = look;
    if (look.isBlind === true) continue;
    const seen = new Map(members.map(({ id, state }) => [id, state]));
    for (const [id, state] of seen) {
      const known = here.get(id);
      if (state === "left") {
        if (known !== undefined) tell("left", id);
        here.delete(id);
        continue;
      }
      const isStopped = state === "lease-ended";
      if (known === undefined && !isFirst) tell("joined", id);
      else if (known !== undefined && known.isStopped !== isStopped)
        tell(isStopped ? "stopped" : "returned", id);
      here.set(id, { isStopped });
    }
    for (const [id, known] of here) {
      if (seen.has(id)) continue;
      known.missingSinceMs ??= atMs;
      if (atMs - known.missingSinceMs < MISSING_MS) continue;
      if (!known.isStopped) events.push({ atMs: known.missingSinceMs, kind: "stopped", of: id });
      here.delete(id);
    }
    isFirst = false;
  }
  return events.toSorted((a, b) => a.atMs - b.atMs);
}

/** The labels of a chart that spans so much time, oldest first. Events that are close together share one. */
export function labelsOf(events: readonly PoolEvent[], spanMs: number): readonly EventLabel[] {
  const groups: PoolEvent[][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    const lastMs = last?.at(-1)?.atMs ?? -Infinity;
    if (last !== undefined && event.atMs - lastMs <= TOGETHER * spanMs) last.push(event);
    else groups.push([event]);
  }
  return groups.map((group) => ({
    atMs: group[0]?.atMs ?? 0,
    text: labelText(group),
  }));
}

/** What one event was: `7d18 joined`, `store lost`, `max 1,000 → 500`. */
export function eventText({ kind, of }: PoolEvent): string {
  switch (kind) {
    case "limit":
      return `max ${of}`;
    case "lost":
      return "store lost";
    case "back":
      return "store back";
    case "empty":
      return "store came back empty";
    case "joined":
    case "left":
    case "stopped":
    case "returned":
      return `${of} ${kind}`;
  }
}

function labelText(group: readonly PoolEvent[]): string {
  const of = (kind: PoolEvent["kind"]): readonly PoolEvent[] =>
    group.filter((event) => event.kind === kind);
  const [left, joined, stopped, returned] = [
    of("left"),
    of("joined"),
    of("stopped"),
    of("returned"),
  ];
  // As many joins as leaves close together are taken for a redeploy.
  const isRedeploy = left.length > 0 && left.length === joined.length;
  const members = isRedeploy
    ? [
        left.length === 1 ? "redeploy" : `redeploy of ${left.length}`,
        wordOf(stopped),
        wordOf(returned),
      ]
    : [wordOf(left), wordOf(stopped), wordOf(returned), wordOf(joined)];
  const limits = of("limit").slice(-1).map(eventText);
  const [isLost, isBack, isEmpty] = [of("lost"), of("back"), of("empty")].map(
    (all) => all.length > 0,
  );
  const back = isEmpty ? "back empty" : isBack ? "back" : "";
  const store = isLost
    ? `store lost${back === "" ? "" : `, ${back}`}`
    : isEmpty
      ? "store came back empty"
      : isBack
        ? "store back"
        : "";
  return [...members, ...limits, store].filter((text) => text !== "").join(", ");
}

/** `7d18 joined`, `3 joined`. */
function wordOf(events: readonly PoolEvent[]): string {
  const [first] = events;
  if (first === undefined) return "";
  return events.length === 1 ? eventText(first) : `${countText(events.length)} ${first.kind}`;
}
