import type { LiveGateway, LiveLimit, LiveTopicDetail } from "../../../../src/live/live-message.ts";
import type { IconName } from "../../parts/icon.tsx";
import type { Token } from "../../chart/palette.ts";
import { limitText, rateText } from "../../words/numbers.ts";
import { namesText, strong } from "../../words/phrase.ts";
import type { Phrase } from "../../words/phrase.ts";
import type { LimitView } from "./limit-view.ts";
import type { Prediction } from "./prediction.ts";

/** One line of "What 1,500/s would do". */
export interface Effect {
  readonly icon: IconName;
  readonly ink: Token;
  readonly says: Phrase;
}

/** Rates that differ by less are the same: they are measured, messages a second. */
const SAME = 1;
/** A backlog that grows by less than this part of what is read does not grow: rates are measured. */
const GROWS_FROM = 0.02;

const LEVEL_INKS = {
  topic: { icon: "topic-rate", ink: "r-topic" },
  group: { icon: "group-rate", ink: "r-group" },
  broker: { icon: "broker-rate", ink: "r-broker" },
} as const;

export function effectsOf(
  view: LimitView,
  prediction: Prediction,
  {
    gateway,
    reader,
    isChange,
  }: {
    readonly gateway: LiveGateway;
    readonly reader: LiveTopicDetail["reader"];
    readonly isChange: boolean;
  },
): readonly Effect[] {
  return [
    acceptedOf(view, prediction, isChange),
    waitersOf(view, prediction),
    ...(reader === undefined ? [] : [backlogOf(prediction, reader)]),
    ...outerLimitsOf(view, prediction, gateway),
  ];
}

function acceptedOf(view: LimitView, { accepted }: Prediction, isChange: boolean): Effect {
  const now = view.rate.messages;
  const isMore = accepted > now + SAME;
  const isOther = isChange && Math.abs(accepted - now) > SAME;
  return {
    icon: isMore || view.reason === undefined ? "flowing" : "throttled",
    ink: isMore || view.reason === undefined ? "water" : "text-2",
    says: [strong(rateText(accepted)), ` accepted${isOther ? ` instead of ${rateText(now)}` : ""}`],
  };
}

function waitersOf({ target }: LimitView, { waiting, turn, isAtLeast }: Prediction): Effect {
  if (waiting.length === 0)
    return {
      icon: "ok",
      ink: "water",
      says: isAtLeast
        ? [strong("Nobody"), " waits, unless somebody asks for more than is known now"]
        : [strong("Nobody"), " waits"],
    };
  const names = namesText(waiting.map(({ name }) => name));
  const wait = waiting.length === 1 ? "waits" : "wait";
  const turns =
    waiting.length === 1 ? `, at ${rateText(turn)}` : `, with turns of ${rateText(turn)}`;
  return { ...LEVEL_INKS[target.kind], says: [strong(names), ` ${wait}${turns}`] };
}

function backlogOf(
  { accepted }: Prediction,
  { vertex, rate, ceiling }: NonNullable<LiveTopicDetail["reader"]>,
): Effect {
  const look = { icon: "fleet-share", ink: "r-fleet" } as const;
  if (ceiling === undefined)
    return {
      ...look,
      says: [`The source ${vertex} reads ${rateText(rate)} now and has no limit of its own`],
    };
  const grows = accepted - ceiling;
  return {
    ...look,
    says:
      grows > ceiling * GROWS_FROM
        ? [
            `The source ${vertex} may read ${rateText(ceiling)}, so the backlog grows by `,
            strong(rateText(grows)),
          ]
        : [`The source ${vertex} may read ${rateText(ceiling)}; `, strong("no backlog"), " grows"],
  };
}

/** The limits around this one: what they would have to take. */
function outerLimitsOf(
  view: LimitView,
  { accepted }: Prediction,
  gateway: LiveGateway,
): readonly Effect[] {
  if (view.target.kind === "broker") return [];
  const more = accepted - view.rate.messages;
  const groups = gateway.groups.filter(
    ({ name, limit }) => view.groups.includes(name) && limit?.messages !== undefined,
  );
  return [
    ...groups.map(({ name, rate, limit }) => outerOf(`group ${name}`, rate.messages + more, limit)),
    ...(gateway.limit?.messages === undefined
      ? []
      : [outerOf("the gateway", gateway.rate.messages + more, gateway.limit)]),
  ];
}

function outerOf(what: string, rate: number, limit: LiveLimit | undefined): Effect {
  const max = limit?.messages ?? Infinity;
  if (rate <= max + SAME)
    return {
      icon: "ok",
      ink: "water",
      says: [`${what} stays at `, strong(rateText(rate)), ` of ${limitText({ messages: max })}`],
    };
  return {
    icon: what.startsWith("group") ? "group-rate" : "broker-rate",
    ink: what.startsWith("group") ? "r-group" : "r-broker",
    says: [
      `${what} would be asked for `,
      strong(rateText(rate)),
      ` of its ${rateText(max)}: producers wait for that limit instead`,
    ],
  };
}
