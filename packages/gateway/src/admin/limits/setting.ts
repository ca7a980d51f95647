import type { DispatchTarget } from "../../ingress/dispatch/dispatch-rate.ts";
import type { SubscribeTarget } from "../../ingress/dispatch/subscribe-rates.ts";
import type { LimitTarget } from "../../ingress/limits/rate-limit.ts";
import { parseTopicName } from "../../name/topic-name.ts";

/** The key of a limit in a flow file, from the root. A topic's name is full: a file may have any of its forms. */
export type Setting = readonly SettingKey[];
type SettingKey = string | { readonly topic: string };

/** The line of a flow file that has the key, as "flow.yaml:12"; undefined if it is not known. */
export type PlaceOf = (setting: Setting) => string | undefined;

const LIMITS: Setting = ["gateway", "limits"];
const DEFAULT_DOMAIN = "persistent://";
const DEFAULT_NAMESPACE = "public/default/";

export const PENDING_SETTING: Setting = [...LIMITS, "connection", "pendingMessages"];
export const HELD_SETTING: Setting = [...LIMITS, "connection", "heldBytes"];
export const AGE_SETTING: Setting = [...LIMITS, "maxHoldMs"];
export const MEMORY_SETTING: Setting = [...LIMITS, "memory"];

export function limitSetting(target: LimitTarget): Setting {
  switch (target.level) {
    case "broker":
      return [...LIMITS, "broker"];
    case "default":
      return [...LIMITS, "topicDefault"];
    case "group":
      return [...LIMITS, "groups", target.name];
    case "namespace":
      return [...LIMITS, "namespaces", target.name];
    case "topic":
      return [...LIMITS, "topics", topic(target.name)];
  }
}

export function dispatchSetting(target: DispatchTarget): Setting {
  const where = [...LIMITS, "dispatch"];
  switch (target.level) {
    case "broker":
      return [...where, "broker"];
    case "default":
      return [...where, "topicDefault"];
    case "subscription-default":
      return [...where, "subscriptionDefault"];
    case "namespace":
      return [...where, "namespaces", target.name];
    case "namespace-subscriptions":
      return [...where, "namespaceSubscriptions", target.name];
    case "topic":
      return [...where, "topics", topic(target.name)];
    case "topic-subscriptions":
      return [...where, "topicSubscriptions", topic(target.name)];
    case "subscription":
      return [...where, "subscriptions", topic(target.topic), target.name];
  }
}

export function subscribeSetting(target: SubscribeTarget): Setting {
  const where = [...LIMITS, "subscribe"];
  if (target.level === "default") return [...where, "default"];
  if (target.level === "namespace") return [...where, "namespaces", target.name];
  return [...where, "topics", topic(target.name)];
}

/** As people write it: gateway.limits.topics."public/default/orders". */
export function settingText(setting: Setting): string {
  return setting
    .map((key) => {
      if (typeof key === "object") return JSON.stringify(shortTopic(key.topic));
      return /^[-\w]+$/.test(key) ? key : JSON.stringify(key);
    })
    .join(".");
}

/** All keys under which a flow file may have the setting, each from the root. */
export function settingPaths(setting: Setting): readonly (readonly string[])[] {
  return setting.reduce<readonly (readonly string[])[]>(
    (paths, key) => {
      const forms = typeof key === "string" ? [key] : topicForms(key.topic);
      return paths.flatMap((path) => forms.map((form) => [...path, form]));
    },
    [[]],
  );
}

/** A full name as flow files and commands have it: without "persistent://". */
export function shortTopic(full: string): string {
  return full.startsWith(DEFAULT_DOMAIN) ? full.slice(DEFAULT_DOMAIN.length) : full;
}

function topic(name: string): SettingKey {
  return { topic: parseTopicName(name).full };
}

function topicForms(full: string): readonly string[] {
  const short = shortTopic(full);
  const local = short.startsWith(DEFAULT_NAMESPACE) ? [short.slice(DEFAULT_NAMESPACE.length)] : [];
  return [...new Set([full, short, ...local])];
}
