import type { Reason } from "@sluice/core";
import {
  countedText,
  countText,
  durationText,
  limitText,
  percentText,
  rateText,
} from "../../words/numbers.ts";
import { namesText, strong } from "../../words/phrase.ts";
import type { Phrase } from "../../words/phrase.ts";
import { askedOf, isSlowed, tightest } from "./prediction.ts";
import type { LimitView } from "./limit-view.ts";

/** From this part of what is asked on, one producer is named as the one that asks most. */
const NAMED_FROM = 0.34;

const OWN_REASONS = { topic: "topic-rate", group: "group-rate", broker: "broker-rate" } as const;

/** The sentence that the page opens with: who uses the limit up, and is anybody slowed? */
export function headlineOf(view: LimitView): Phrase {
  const { target, limit, reason, rate, label } = view;
  const who =
    target.kind === "group"
      ? ["Group ", strong(label)]
      : [strong(label === "the gateway" ? "The gateway" : label)];
  const takes = rateText(rate.messages);
  if (reason !== undefined && reason !== OWN_REASONS[target.kind])
    return [
      ...who,
      ` takes `,
      strong(takes),
      `. Its producers wait for `,
      strong(otherLimit(view)),
      ".",
    ];
  if (limit === undefined)
    return [...who, " has no limit of its own. It takes ", strong(takes), "; nobody waits."];
  if (reason === undefined) return [...who, ...usedOf(view), " Nobody waits."];
  const since = view.limitedForMs === undefined ? "." : ` for ${durationText(view.limitedForMs)}.`;
  const is =
    view.limitedForMs === undefined ? " is at its limit of " : " has been at its limit of ";
  return [...who, is, strong(limitText(tightest(view))), since, ...sharedBy(view)];
}

function usedOf({ rate, limit }: LimitView): Phrase {
  if (limit?.messages !== undefined)
    return [
      " takes ",
      strong(rateText(rate.messages)),
      " of the ",
      strong(rateText(limit.messages)),
      " it may.",
    ];
  return [
    " takes ",
    strong(rateText(rate.messages)),
    " and may take ",
    strong(limitText(limit ?? {})),
    ".",
  ];
}

/** The producer that asks for a large part of all, and those that get all they ask for. */
function sharedBy({ producers, asked }: LimitView): Phrase {
  const [top] = producers.toSorted((a, b) => askedOf(b) - askedOf(a));
  if (top === undefined) return [];
  if (producers.length === 1) return [` ${top.name} alone publishes to it.`];
  const free = producers.filter((one) => !isSlowed(one) && one.rate > 0);
  const slowed = ` ${countText(producers.length - free.length)} of ${countedText(producers.length, "producer")} wait`;
  const freeText =
    free.length === 0 || free.length === producers.length
      ? "."
      : `; ${namesText(free.map(({ name }) => name))} ${free.length === 1 ? "is" : "are"} not slowed.`;
  const part = asked > 0 ? Math.min(1, askedOf(top) / asked) : 0;
  if (part < NAMED_FROM) return [slowed, freeText];
  return [` ${top.name} asks for `, strong(percentText(part)), " of what is asked", freeText];
}

const OTHERS: Partial<Readonly<Record<Reason, string>>> = {
  "group-rate": "the limit of a group",
  "broker-rate": "the limit of the gateway",
  "topic-rate": "the limit of a topic",
  "connection-pending": "publishes that are not stored yet",
};

function otherLimit({ reason = "memory", groups }: LimitView): string {
  if (reason === "group-rate" && groups.length === 1) return `the limit of group ${groups[0]}`;
  return OTHERS[reason] ?? reason;
}
