import { isDeepStrictEqual } from "node:util";
import type { LimitsBlock } from "@sluice/lab/file";
import type { Flow } from "../../flow/flow.ts";
import type { Started } from "../command/serve.ts";

/** Limits of publishing: they are taken over while the gateway runs. */
const LIVE = ["broker", "groups", "namespaces", "topics", "topicDefault"] as const;

/** The block of a file that has none. */
const NO_LIMITS: LimitsBlock = { groups: {}, topics: {}, connection: {} };

/**
 * Takes over limits of publishing that have changed, all of them or none. Answers their keys.
 *
 * @throws ConfigError if one cannot be had; then nothing has changed.
 */
export function reloadGateway(
  gateway: Started["gateway"],
  before: Pick<Flow, "gateway">,
  after: Pick<Flow, "gateway">,
): readonly string[] {
  const former = before.gateway?.limits ?? NO_LIMITS;
  const limits = after.gateway?.limits ?? NO_LIMITS;
  const changed = liveKeys(former, limits);
  if (gateway === undefined || after.gateway === undefined || changed.length === 0) return [];
  const given = Object.fromEntries(
    LIVE.map((key) => [key, changed.includes(key) ? limits[key] : former[key]]),
  );
  gateway.administered.limitBook.reload(given);
  return changed.map((key) => `gateway.limits.${key}`);
}

/** Keys of the file whose change takes effect at the next start only. */
export function restartKeys(before: Flow, after: Flow): readonly string[] {
  const keys = (["name", "store", "admin"] as const).filter(
    (key) => !isDeepStrictEqual(before[key], after[key]),
  );
  return [...keys, ...gatewayKeys(before.gateway, after.gateway)];
}

function gatewayKeys(before: Flow["gateway"], after: Flow["gateway"]): readonly string[] {
  if (before === undefined || after === undefined) return before === after ? [] : ["gateway"];
  const others = differing({ ...before, limits: undefined }, { ...after, limits: undefined });
  const [former, limits] = [before.limits ?? NO_LIMITS, after.limits ?? NO_LIMITS];
  const live: readonly string[] = liveKeys(former, limits);
  const bounds = differing(former, limits).filter((key) => !live.includes(key));
  return [
    ...others.map((key) => `gateway.${key}`),
    ...bounds.map((key) => `gateway.limits.${key}`),
  ];
}

/** Keys of limits that have changed and can be taken over: gateways agree on `shared` when they start. */
function liveKeys(before: LimitsBlock, after: LimitsBlock): readonly (typeof LIVE)[number][] {
  return LIVE.filter(
    (key) =>
      !isDeepStrictEqual(before[key], after[key]) &&
      isDeepStrictEqual(sharedIn(before[key]), sharedIn(after[key])),
  );
}

/** The names of what is shared, in one text. */
function sharedIn(limits: object | undefined): readonly string[] {
  if (limits === undefined) return [];
  if ("shared" in limits) return limits.shared === true ? ["broker"] : [];
  return Object.entries(limits as Readonly<Record<string, unknown>>).flatMap(([name, one]) =>
    typeof one === "object" && one !== null && "shared" in one && one.shared === true ? [name] : [],
  );
}

function differing(before: object, after: object): readonly string[] {
  const [from, to] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...from.keys(), ...to.keys()])].filter(
    (key) => !isDeepStrictEqual(from.get(key), to.get(key)),
  );
}
