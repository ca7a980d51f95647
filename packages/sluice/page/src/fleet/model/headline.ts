import type { LivePoolDetail } from "../../../../src/live/live-message.ts";
import { countText, durationText, rateText } from "../../words/numbers.ts";
import { namesText, strong } from "../../words/phrase.ts";
import type { Phrase } from "../../words/phrase.ts";
import { hasFairShare, liveMembers, standingOf, sumOf } from "./pool-standing.ts";

/** Shares that differ by less than this part are the same: they are rounded. */
const SAME = 0.02;

/** The sentence that the page opens with: do the members agree, and who may use how much? */
export function headlineOf(detail: LivePoolDetail): Phrase {
  const { share, settings, replicas } = detail;
  const live = liveMembers(detail);
  const ceiling = rateText(share.ceiling);
  switch (standingOf(detail)) {
    case "no store":
      if (replicas !== undefined && replicas > 1)
        return [
          strong(`One of ${countText(replicas)} processes, no store.`),
          " Each has an equal part of the ceiling of ",
          strong(ceiling),
          ", this one ",
          strong(rateText(share.share)),
          ". Nobody counts them: start no more than that.",
        ];
      return [
        strong("One member, no store."),
        " It uses the whole ceiling of ",
        strong(ceiling),
        ". Start it again with one Redis and the members share it.",
      ];
    case "store lost": {
      const own = detail.members.find(({ isThis }) => isThis);
      return [
        strong("This member has no lease."),
        ` The store has been silent for ${durationText(own?.syncAgeMs)}, so it ${lossWords(settings.onStoreLoss)}`,
        ...(settings.onStoreLoss === "closed" ? [] : [strong(rateText(own?.share ?? share.share))]),
        ". It heals by itself.",
      ];
    }
    case "over":
      return [
        strong("More was told than the ceiling."),
        ` The shares add up to ${rateText(sumOf(detail))} of `,
        strong(ceiling),
        ".",
      ];
    case "learning":
      return [
        strong("The store has lost its memory."),
        ` Held shares stay in use; no share grows for `,
        strong(durationText(detail.learningMs)),
        ", until every member has reported what it holds.",
      ];
    case "joining": {
      const joiners = live.filter(({ state }) => state === "joining");
      const rest = live.filter(({ state }) => state !== "joining");
      const latestMs = settings.leaseMs + 4 * settings.syncMs;
      return [
        strong(
          `${namesText(joiners.map(({ id }) => id))} ${joiners.length === 1 ? "joins" : "join"}.`,
        ),
        rest.length === 0
          ? " The pool begins; "
          : ` ${rest.length === 1 ? "The other member makes" : `The ${countText(rest.length)} other members make`} room; `,
        joiners.length === 1 ? "it has its share within " : "they have their shares within ",
        strong(durationText(latestMs)),
        ", usually two seconds.",
      ];
    }
    case "handing over": {
      const lacking = live.filter((member) => !hasFairShare(member));
      return [
        strong(
          live.length === 1
            ? "One member hands over."
            : `${countText(live.length)} members hand over.`,
        ),
        ` ${namesText(lacking.map(({ id }) => id))} ${lacking.length === 1 ? "has" : "have"} not the fair share yet; the sum stays at most the ceiling of `,
        strong(ceiling),
        ".",
      ];
    }
    case "agreed":
      return [
        strong(live.length === 1 ? "One member." : `${countText(live.length)} members agree.`),
        " The ceiling is ",
        strong(ceiling),
        ...rampOf(detail),
        ...sharesOf(detail),
      ];
  }
}

function rampOf({ share }: LivePoolDetail): Phrase {
  const { ceiling, max, rampLeftMs } = share;
  if (ceiling === undefined || max === undefined) return [";"];
  if (ceiling >= max * (1 - 0.001)) return [" and at its max;"];
  return [` of ${countText(max)}${rampLeftMs === undefined ? "" : " and ramping"};`];
}

function sharesOf(detail: LivePoolDetail): Phrase {
  const live = liveMembers(detail);
  const own = live.find(({ isThis }) => isThis);
  const mine = own?.share ?? detail.share.share;
  if (live.length === 1)
    return [
      " it may use ",
      strong(mine === detail.share.ceiling ? "all of it" : rateText(mine)),
      ".",
    ];
  const most = Math.max(...live.map(({ share }) => share));
  const least = Math.min(...live.map(({ share }) => share));
  return most - least <= most * SAME
    ? [" each may use ", strong(rateText(mine)), "."]
    : [
        ` by demand a member may use ${rateText(least)} to ${rateText(most)}, this one `,
        strong(rateText(mine)),
        ".",
      ];
}

function lossWords(onStoreLoss: string): string {
  switch (onStoreLoss) {
    case "closed":
      return "grants nothing";
    case "open":
      return "goes on with what it had, ";
    default:
      return "keeps to its safe share of ";
  }
}
