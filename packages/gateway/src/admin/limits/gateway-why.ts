import type { AdministeredGateway } from "../administered-broker.ts";
import type { WaitingSnapshot } from "../../observe/waiting.ts";
import { formatWallTime } from "@sluice/core/system";
import type { LimitTarget } from "../../ingress/limits/rate-limit.ts";
import type { RateParts } from "../../observe/waiting.ts";
import type { FlowingProducer, WhyAnswer, WhySetting } from "./why.ts";
import { limitSetting, settingPaths, settingText } from "./setting.ts";
import type { PlaceOf } from "./setting.ts";
import { whyAnswer } from "./why.ts";

/** Where a key of the flow file stands, as "flow.yaml:12"; undefined if it does not have the key. */
export type FindPlace = (path: readonly string[]) => string | undefined;

interface GatewayWhy {
  readonly gateway: Pick<AdministeredGateway, "limitBook" | "throttling">;
  readonly snapshot: WaitingSnapshot;
  readonly findPlace: FindPlace;
  readonly wallMs: number;
  /** Producers of a topic with their rates, by the full name of the topic. */
  readonly flowing: ReadonlyMap<string, readonly FlowingProducer[]>;
}

/** What waits and why, of one snapshot. */
export function gatewayWhy(input: GatewayWhy): WhyAnswer {
  const { gateway, snapshot, findPlace, wallMs, flowing } = input;
  return whyAnswer({
    snapshot,
    limits: gateway.limitBook,
    placeOf: placesIn(findPlace),
    nowMs: gateway.throttling.now(),
    wallMs,
    flowing,
  });
}

/** The limit that gives a topic its own rate, and where it is set; of a topic without one, where one would be. */
export interface TopicSetting extends WhySetting {
  readonly target: LimitTarget;
  /** Undefined: no limit is set for the topic, its namespace, or all topics. */
  readonly limit?: RateParts;
}

/** `topic` is any form of a name. */
export function topicSetting(
  { limitBook }: Pick<AdministeredGateway, "limitBook">,
  topic: string,
  findPlace: FindPlace,
): TopicSetting {
  const listed = limitBook.ofTopic(topic);
  const target: LimitTarget = listed?.target ?? { level: "topic", name: topic };
  const setting = limitSetting(target);
  const place = listed?.source === "flow file" ? placesIn(findPlace)(setting) : undefined;
  return {
    target,
    path: settingText(setting),
    ...(listed !== undefined && { limit: listed.limit, source: listed.source }),
    ...(place !== undefined && { place }),
    ...(listed?.setAtMs !== undefined && { setAt: formatWallTime(listed.setAtMs) }),
  };
}

/** A setting may be written in several forms; the first that the file has is its place. */
export function placesIn(find: FindPlace = () => undefined): PlaceOf {
  return (setting) => {
    for (const path of settingPaths(setting)) {
      const place = find(path);
      if (place !== undefined) return place;
    }
    return undefined;
  };
}
