import type { LivePoolDetail } from "../../../../src/live/live-message.ts";
import type { IconName } from "../../parts/icon.tsx";
import { countText, durationText, rateText } from "../../words/numbers.ts";
import { namesText } from "../../words/phrase.ts";
import { hasFairShare, liveMembers, standingOf, sumOf } from "./pool-standing.ts";

/** Whether the members agree, in the words of the ledger of promises. */
export interface Agreement {
  readonly verdict: string;
  readonly tone: "good" | "changing" | "lost";
  readonly icon: IconName;
  /** What was told in all, the ceiling, and how many have their fair share; undefined where that is not known. */
  readonly told: string | undefined;
  readonly ceiling: string | undefined;
  readonly isWithin: boolean;
  readonly fair: string | undefined;
  readonly facts: readonly (readonly [string, string])[];
}

/** A joiner has its share after a lease and this many syncs at the latest. */
const JOIN_SYNCS = 4;

/** Undefined without a store: there is nothing to agree on. */
export function agreementOf(detail: LivePoolDetail): Agreement | undefined {
  const standing = standingOf(detail);
  if (standing === "no store") return undefined;
  const { settings } = detail;
  const latestMs = settings.leaseMs + JOIN_SYNCS * settings.syncMs;
  if (standing === "store lost")
    return {
      verdict: "No verdict",
      tone: "lost",
      icon: "store-lost",
      told: undefined,
      ceiling: undefined,
      isWithin: true,
      fair: undefined,
      facts: [
        ["asked back", "not known"],
        ["learning", `for ${durationText(learningAfter(detail))}, if it comes back empty`],
        ["heals", `by itself, within ${durationText(latestMs)} of the store's answer`],
      ],
    };
  const live = liveMembers(detail);
  const sum = sumOf(detail);
  const ceiling = detail.share.ceiling ?? 0;
  const isWithin = standing !== "over";
  const { verdict, tone, icon } = {
    agreed: { verdict: "AGREE", tone: "good", icon: "ok" },
    over: { verdict: "DISAGREE", tone: "lost", icon: "error" },
    learning: { verdict: "LEARNING", tone: "changing", icon: "throttled" },
    joining: { verdict: "JOINING", tone: "changing", icon: "throttled" },
    "handing over": { verdict: "HANDING OVER", tone: "changing", icon: "throttled" },
  }[standing] as Pick<Agreement, "verdict" | "tone" | "icon">;
  return {
    verdict,
    tone,
    icon,
    told: countText(Math.round(sum)),
    ceiling: countText(Math.round(ceiling)),
    isWithin,
    fair: `${countText(live.filter(hasFairShare).length)} of ${countText(live.length)}`,
    facts: [
      ["asked back", askedBack(detail)],
      ["joining", joining(detail, latestMs)],
      ["learning", learning(detail)],
    ],
  };
}

/** What members still hold beyond what they were told; it is free for others when they have released it. */
function askedBack(detail: LivePoolDetail): string {
  const held = liveMembers(detail).filter(
    ({ share, promised, state }) => state === "releasing" || (promised ?? share) > share * 1.001,
  );
  if (held.length === 0) return "nothing";
  const parts = held.reduce((sum, { share, promised }) => sum + ((promised ?? share) - share), 0);
  const from = namesText(held.map(({ id }) => id));
  return parts > 0.5 ? `${rateText(parts)} from ${from}` : `from ${from}`;
}

function joining(detail: LivePoolDetail, latestMs: number): string {
  const joiners = detail.members.filter(({ state }) => state === "joining");
  if (joiners.length === 0) return "nobody";
  return `${namesText(joiners.map(({ id }) => id))}, within ${durationText(latestMs)}`;
}

function learning({ learningMs = 0 }: LivePoolDetail): string {
  return learningMs > 0 ? `no share grows for ${durationText(learningMs)}` : "no";
}

/** How long no share grows after lost memory: a lease on the slowest clock that is allowed for, and one sync. */
function learningAfter({ settings }: LivePoolDetail): number {
  return settings.leaseMs * 1.05 + settings.syncMs + settings.storeTimeoutMs;
}
