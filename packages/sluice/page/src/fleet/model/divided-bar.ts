import type { LivePoolDetail } from "../../../../src/live/live-message.ts";
import { countText, durationText, rateText, wholeText } from "../../words/numbers.ts";
import { inOrder, isWithoutStore, liveMembers, standingOf, sumOf } from "./pool-standing.ts";

/** A piece of the bar; its width is a rate. */
export type Piece =
  | {
      readonly kind: "member" | "joining" | "safe";
      readonly id: string;
      readonly isThis: boolean;
      readonly width: number;
      readonly share: number;
      /** 0 to 1 of its share; absent if the member does not say. */
      readonly used?: number | undefined;
    }
  /** What nobody may use now, and why. */
  | { readonly kind: "rest"; readonly width: number; readonly text: string };

export interface DividedBar {
  /** What the whole width stands for: the top of the ramp. */
  readonly whole: number;
  readonly pieces: readonly Piece[];
  readonly marks: readonly { readonly at: number; readonly text: string }[];
  /** The sum, written out, and what it says. */
  readonly sum: string;
  readonly verdict: string;
  readonly isOver: boolean;
}

/** A joiner that was told nothing yet is this wide, as a part of the bar, so that it is seen. */
const JOINING_WIDTH = 0.06;
/** More members than this are not written one by one. */
const WRITTEN_MAX = 8;
/** A rest that is narrower, as a part of the bar, is a rounding. */
const REST_FROM = 0.004;
/** A ceiling this close to max, as a part of the bar, has no room for a mark of its own. */
const NEAR_MAX = 0.9;
/** Rates that differ by less than this part are the same: they are rounded. */
const SAME = 0.002;

export function dividedBar(detail: LivePoolDetail): DividedBar {
  const { share, settings } = detail;
  const ceiling = share.ceiling ?? 0;
  const whole = Math.max(share.max ?? ceiling, ceiling, 1);
  const standing = standingOf(detail);
  if (standing === "store lost") return lostBar(detail, whole);
  const live = inOrder(liveMembers(detail));
  const sum = isWithoutStore(detail)
    ? live.reduce((all, one) => all + one.share, 0)
    : sumOf(detail);
  const pieces = live.map((member): Piece => {
    const { id, isThis, used, state } = member;
    const isJoining = state === "joining";
    const width = Math.max(member.share / whole, isJoining ? JOINING_WIDTH : 0);
    const kind = isJoining ? "joining" : state === "safe-share" ? "safe" : "member";
    return { kind, id, isThis, width, share: member.share, used };
  });
  const rest = Math.max(0, 1 - pieces.reduce((all, { width }) => all + width, 0));
  const isOver = standing === "over";
  return {
    whole,
    pieces:
      rest > REST_FROM
        ? [...pieces, { kind: "rest", width: rest, text: restText(detail, whole - sum) }]
        : pieces,
    marks: marksOf(share.min, ceiling, whole),
    sum: sumText(
      live.filter((one) => one.share > 0).map((one) => one.share),
      sum,
    ),
    verdict: isOver
      ? `above the ceiling of ${countText(ceiling)}`
      : sumVerdict(sum, ceiling, detail.replicas ?? 1, settings.safeShare),
    isOver,
  };
}

function lostBar({ members, settings, share }: LivePoolDetail, whole: number): DividedBar {
  const own = members.find(({ isThis }) => isThis);
  const safe = own?.share ?? settings.safeShare;
  const width = Math.min(1, safe / whole);
  const used = own?.used;
  const { maxMembers, onStoreLoss } = settings;
  const others =
    onStoreLoss === "safe-share"
      ? `the others are not seen; by the same rule each keeps to ${rateText(settings.safeShare)}`
      : "the others are not seen";
  return {
    whole,
    pieces: [
      { kind: "safe", id: own?.id ?? "", isThis: true, width, share: safe, used },
      { kind: "rest", width: 1 - width, text: others },
    ],
    marks: marksOf(share.min, undefined, whole),
    sum: `at most ${countText(maxMembers)} × ${shareText(settings.safeShare)} = ${countText(whole)}`,
    verdict:
      onStoreLoss === "open"
        ? "each goes on with what it had, so the sum may exceed the ceiling if members join"
        : "the ceiling holds even if every member runs",
    isOver: onStoreLoss === "open",
  };
}

function sumVerdict(sum: number, ceiling: number, replicas: number, safeShare: number): string {
  if (replicas > 1)
    return `of ${countText(ceiling)}: the other ${countText(replicas - 1)} processes have the rest`;
  if (Math.abs(sum - ceiling) <= Math.max(1, ceiling * SAME)) return "exactly the ceiling";
  return safeShare > sum
    ? `below the ceiling of ${countText(ceiling)} until the members have met`
    : `below the ceiling of ${countText(ceiling)} while parts are handed over`;
}

/** `222 + 222 = 444`; of many members only what they hold together. */
function sumText(shares: readonly number[], sum: number): string {
  if (shares.length === 0) return "nobody holds a share yet";
  if (shares.length > WRITTEN_MAX)
    return `${countText(shares.length)} members hold ${countText(sum)} in all`;
  if (shares.length === 1) return shareText(sum);
  const whole = shares.reduce((all, share) => all + Math.round(share), 0);
  // With a decimal where whole numbers would not add up: 105.5 + 105.5 = 211.
  const text = whole === Math.round(sum) ? shareText : decimalText;
  return `${shares.map(text).join(" + ")} = ${text(sum)}`;
}

function restText({ share, members, replicas }: LivePoolDetail, free: number): string {
  if (replicas !== undefined) return "of the other processes";
  const joiner = members.find(({ state }) => state === "joining");
  const { ceiling, max, rampLeftMs } = share;
  const isRamping = ceiling !== undefined && max !== undefined && ceiling < max;
  if (joiner !== undefined)
    return `${rateText(free)} kept free for ${joiner.id}${isRamping ? " and the ramp" : ""}`;
  if (isRamping && rampLeftMs !== undefined) return `ramp: ${durationText(rampLeftMs)} to max`;
  return isRamping ? "above the ramp" : `${rateText(free)} free`;
}

function marksOf(
  min: number | undefined,
  ceiling: number | undefined,
  whole: number,
): DividedBar["marks"] {
  const isAtTop = ceiling !== undefined && ceiling >= whole * (1 - SAME);
  const isNearTop = ceiling !== undefined && ceiling > whole * NEAR_MAX;
  const top = isAtTop
    ? "ceiling and max"
    : isNearTop
      ? `ceiling ${countText(ceiling)}, max`
      : "max";
  return [
    { at: 0, text: "0" },
    ...(min === undefined || min >= whole || min <= 0
      ? []
      : [{ at: min / whole, text: `min ${countText(min)}` }]),
    ...(ceiling === undefined || isNearTop || ceiling <= 0
      ? []
      : [{ at: ceiling / whole, text: `ceiling ${countText(ceiling)}` }]),
    { at: 1, text: `${top} ${countText(whole)}` },
  ];
}

/** Shares below 100 have a decimal, so that the sum can be checked. */
function shareText(share: number): string {
  return share < 100 ? decimalText(share) : countText(Math.round(share));
}

function decimalText(share: number): string {
  const rounded = Math.round(share * 10) / 10;
  if (Number.isInteger(rounded)) return countText(rounded);
  return `${wholeText(Math.floor(rounded))}${(rounded % 1).toFixed(1).slice(1)}`;
}
