import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole, SECOND_MS } from "@sluice/core/internal";

/**
 * A limit of what is delivered, in whole messages, whole bytes, or both, per period. Without either there
 * is no limit at this level, whatever a lower one says.
 */
export interface DispatchRate {
  readonly messages?: number | undefined;
  readonly bytes?: number | undefined;
  /** 1,000 unless given. The bucket holds one period's tokens. */
  readonly periodMs?: number | undefined;
}

/**
 * What a dispatch limit is set for. `topic` > `namespace` > `default` is the rate of each topic, which all
 * its subscriptions and partitions share. `subscription` > `topic-subscriptions` >
 * `namespace-subscriptions` > `subscription-default` is the rate of each subscription. The broker has one
 * rate for all.
 */
export type DispatchTarget =
  | { readonly level: "broker" }
  | { readonly level: "default" }
  | { readonly level: "subscription-default" }
  /** `name` is "tenant/namespace". */
  | { readonly level: "namespace" | "namespace-subscriptions"; readonly name: string }
  /** `name` is any form of a topic's name. */
  | { readonly level: "topic" | "topic-subscriptions"; readonly name: string }
  | { readonly level: "subscription"; readonly topic: string; readonly name: string };

const KEYS: ReadonlySet<string> = new Set(["messages", "bytes", "periodMs"]);

/** The rate as it was given, checked; `where` names it in errors. */
export function requireDispatchRate(where: string, given: DispatchRate): DispatchRate {
  requireKnownKeys(where, given, KEYS);
  const { messages, bytes, periodMs = SECOND_MS } = given;
  requireRate(`${where}.messages`, messages);
  requireRate(`${where}.bytes`, bytes);
  requireDuration(`${where}.periodMs`, periodMs, 1);
  return { messages, bytes, periodMs };
}

export function isLimiting({ messages, bytes }: DispatchRate): boolean {
  return messages !== undefined || bytes !== undefined;
}

function requireRate(where: string, rate: number | undefined): void {
  if (rate === undefined) return;
  if (rate === 0 || rate === -1)
    throw new ConfigError(
      `${where} is ${rate}; it must be a whole number per period from 1, or absent for no limit`,
    );
  requireWhole(where, rate, 1);
}

/** Such as "topic public/default/orders". */
export function describeDispatchTarget(target: DispatchTarget): string {
  if (target.level === "subscription") return `subscription ${target.name} of ${target.topic}`;
  return "name" in target ? `${target.level} ${target.name}` : `the ${target.level}`;
}
