import type { Reason } from "@sluice/core";

/** How a band of a reason is filled, so that it can be told from its neighbour without colour. */
export type Texture =
  | "solid"
  | "slash"
  | "backslash"
  | "wide-slash"
  | "dots"
  | "big-dots"
  | "grid"
  | "crossed"
  | "horizontal"
  | "vertical"
  | "zigzag";

/** Which of the five numbered gates a reason closes. */
export type GateNumber = 1 | 3 | 4 | 5;

export interface ReasonLook {
  /** The reason whose glyph, texture and colour it has. */
  readonly family: ReasonFamily;
  /** The token of its colour. */
  readonly color: ReasonColor;
  readonly texture: Texture;
  readonly gate: GateNumber;
}

type ReasonFamily = Exclude<Reason, "fleet-joining" | "fleet-refused">;

type ReasonColor =
  | "r-topic"
  | "r-group"
  | "r-broker"
  | "r-conn"
  | "r-memory"
  | "r-fleet"
  | "r-store"
  | "r-rate"
  | "r-conc"
  | "r-busy"
  | "r-retry";

const look = (
  family: ReasonFamily,
  color: ReasonColor,
  texture: Texture,
  gate: GateNumber,
): ReasonLook => ({ family, color, texture, gate });

const FLEET = look("fleet-share", "r-fleet", "horizontal", 3);

/** In the order of the path, from the producers to the service. */
export const REASON_LOOKS: Readonly<Record<Reason, ReasonLook>> = {
  "topic-rate": look("topic-rate", "r-topic", "solid", 1),
  "group-rate": look("group-rate", "r-group", "slash", 1),
  "broker-rate": look("broker-rate", "r-broker", "backslash", 1),
  "connection-pending": look("connection-pending", "r-conn", "dots", 1),
  memory: look("memory", "r-memory", "grid", 1),
  "fleet-share": FLEET,
  "fleet-joining": FLEET,
  "fleet-refused": FLEET,
  "store-lost": look("store-lost", "r-store", "crossed", 3),
  rate: look("rate", "r-rate", "zigzag", 5),
  "peer-busy": look("peer-busy", "r-busy", "big-dots", 4),
  "retry-after": look("retry-after", "r-retry", "wide-slash", 4),
  concurrency: look("concurrency", "r-conc", "vertical", 5),
};

const ORDER = Object.keys(REASON_LOOKS);

/** Sorts reasons in the order of the path. */
export function inPathOrder(reasons: Iterable<Reason>): readonly Reason[] {
  return [...new Set(reasons)].toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
}
