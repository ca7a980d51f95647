import type { DispatchTarget } from "../../ingress/dispatch/dispatch-rate.ts";
import type { SubscribeTarget } from "../../ingress/dispatch/subscribe-rates.ts";
import type { LimitTarget } from "../../ingress/limits/rate-limit.ts";
import { parseTopicName } from "../../name/topic-name.ts";
import { HttpError } from "../http/http-error.ts";

/** What a path of `/api/limits` names: a limit of publishing, of deliveries or of SUBSCRIBE. */
export type NamedLimit =
  | { readonly sort: "publish"; readonly target: LimitTarget }
  | { readonly sort: "dispatch"; readonly target: DispatchTarget }
  | { readonly sort: "subscribe"; readonly target: SubscribeTarget };

const LEVELS = "broker, default, group/NAME, namespace/TENANT/NAMESPACE or topic/NAME";
const DISPATCH_LEVELS =
  "broker, default, subscription-default, namespace/TENANT/NAMESPACE, namespace-subscriptions/TENANT/NAMESPACE, topic/NAME, topic-subscriptions/NAME or subscription/TOPIC/NAME, after dispatch/";
const SUBSCRIBE_LEVELS = "default, namespace/TENANT/NAMESPACE or topic/NAME, after subscribe/";

/**
 * Reads the segments behind `/api/limits`. Names may stand in several segments, as their slashes do. "publish" may
 * be left out.
 *
 * @throws HttpError if there can be no such limit.
 */
export function limitOfPath(segments: readonly string[]): NamedLimit {
  const [sort] = segments;
  if (sort === "dispatch") return { sort, target: dispatchTarget(segments.slice(1)) };
  if (sort === "subscribe") return { sort, target: subscribeTarget(segments.slice(1)) };
  const rest = sort === "publish" ? segments.slice(1) : segments;
  return { sort: "publish", target: publishTarget(rest) };
}

function publishTarget(segments: readonly string[]): LimitTarget {
  const { level, name } = partsOf(segments);
  if ((level === "broker" || level === "default") && name === "") return { level };
  if (name !== "" && (level === "group" || level === "namespace")) return { level, name };
  if (name !== "" && level === "topic") return { level, name: topicOf(name) };
  throw notKnown(segments, LEVELS);
}

function dispatchTarget(segments: readonly string[]): DispatchTarget {
  const { level, name } = partsOf(segments);
  if (level === "group")
    throw new HttpError(
      405,
      "a group has no limit of deliveries; set one for its namespaces (dispatch/namespace) or for all (dispatch/broker)",
    );
  if (name === "") {
    if (level === "broker" || level === "default" || level === "subscription-default")
      return { level };
  } else if (level === "namespace" || level === "namespace-subscriptions") return { level, name };
  else if (level === "topic" || level === "topic-subscriptions")
    return { level, name: topicOf(name) };
  else if (level === "subscription" && segments.length > 2) {
    const topic = segments.slice(1, -1).join("/");
    return { level, topic: topicOf(topic), name: segments.at(-1) ?? "" };
  }
  throw notKnown(["dispatch", ...segments], DISPATCH_LEVELS);
}

function subscribeTarget(segments: readonly string[]): SubscribeTarget {
  const { level, name } = partsOf(segments);
  if (level === "broker" || level === "group")
    throw new HttpError(
      405,
      `a ${level} has no limit of SUBSCRIBE, which is one of each consumer of a topic; set subscribe/default, subscribe/namespace or subscribe/topic`,
    );
  if (level === "default" && name === "") return { level };
  if (level === "namespace" && name !== "") return { level, name };
  if (level === "topic" && name !== "") return { level, name: topicOf(name) };
  throw notKnown(["subscribe", ...segments], SUBSCRIBE_LEVELS);
}

function partsOf([level = "", ...name]: readonly string[]): {
  readonly level: string;
  readonly name: string;
} {
  return { level, name: name.join("/") };
}

function topicOf(name: string): string {
  const { full, partition } = parseTopicName(name);
  return partition?.of ?? full;
}

function notKnown(segments: readonly string[], expected: string): HttpError {
  const found = segments.join("/").slice(0, 80);
  return new HttpError(
    404,
    `"${found}" is not something that a limit is set for; write ${expected}`,
  );
}
