import { bytesText, countText, durationText, perSecondText } from "@sluice/gateway/internal";
import type { LiveProducer, LiveShare } from "../../live/live-message.ts";
import { lastName } from "../../why/local-name.ts";
import { cut } from "../../why/cut.ts";
import type { TopSnapshot } from "../top-snapshot.ts";
import { rounded } from "./top-table.ts";
import { counted } from "../../why/counted.ts";

const PRODUCERS_MAX = 8;
const POOLS_MAX = 4;
const MEMBERS_MAX = 12;
const MS_PER_SECOND = 1_000;

/** Producers: those that wait first, then the busiest. */
export function* producerLines({ sample }: TopSnapshot, width: number): Generator<string> {
  const producers = sample.gateway?.producers ?? [];
  if (producers.length === 0) return;
  yield "";
  yield cut("PRODUCERS      TOPIC       ASKS FOR       GETS    HELD  HOW", width);
  const throttled = new Set(
    producers.flatMap(({ topic, reason }) => (reason === undefined ? [] : [topic])),
  );
  for (const producer of producers.slice(0, PRODUCERS_MAX)) {
    const { name, topic, asked, isAskedAtLeast, rate, heldFrames } = producer;
    const least = isAskedAtLeast ? "≥ " : "";
    const cells = [
      cut(name, 14).padEnd(15),
      cut(lastName(topic), 10).padEnd(11),
      (asked === undefined ? "" : least + perSecondText(rounded(asked))).padStart(9),
      perSecondText(rounded(rate)).padStart(11),
      countText(heldFrames).padStart(8),
      `  ${howOf(producer, throttled.has(topic))}`,
    ];
    yield cut(cells.join(""), width).trimEnd();
  }
}

/** How a producer is held back, or why it is not. */
function howOf(producer: LiveProducer, isTopicThrottled: boolean): string {
  const { rate, heldFrames, heldBytes, told, client, isAware, reason } = producer;
  const who = `${client === undefined ? "" : `${client}, `}${isAware ? "aware" : "unaware"}`;
  if (told !== undefined) {
    const receipt =
      told.receiptAfterMs === undefined
        ? ""
        : `, receipt after ${durationText(told.receiptAfterMs)}`;
    return `told to wait ${durationText(told.pauseMs)}${receipt}`;
  }
  if (heldFrames > 0) return `held, ${bytesText(heldBytes)}; ${who}`;
  if (reason !== undefined) return `waits; ${who}`;
  if (rate < 0.5) return `idle; ${who}`;
  return isTopicThrottled ? "asks for less than a turn, does not wait" : `flows; ${who}`;
}

/** The pools of the vertices, with the members of the first; empty without a store. */
export function* fleetLines(snapshot: TopSnapshot, width: number): Generator<string> {
  const { sample, pool } = snapshot;
  const shares = sample.pipelines.flatMap(({ name, vertices }) =>
    vertices.flatMap((vertex) =>
      vertex.share?.syncAgeMs === undefined
        ? []
        : [{ of: `${name}/${vertex.name}`, share: vertex.share }],
    ),
  );
  if (shares.length === 0) return;
  yield "";
  for (const [index, { of, share }] of shares.slice(0, POOLS_MAX).entries()) {
    const lead = (index === 0 ? "FLEET" : "").padEnd(12);
    const isDetailed = pool?.pool === share.pool;
    const who = isDetailed ? agreementOf(snapshot) : `${of}: ${counted(share.members, "member")}`;
    yield cut(`${lead}${[who, ceilingOf(share, snapshot), storeOf(share)].join("   ")}`, width);
    if (isDetailed) yield* memberLines(snapshot, width);
  }
}

function agreementOf({ pool }: TopSnapshot): string {
  const present = (pool?.members ?? []).filter(({ state }) => state !== "left");
  const held = present.filter(({ state }) => state === "holds").length;
  return `${held} agree on ${present.length}`;
}

/** "ceiling 888/s of 1,000, +7.5/s each second". */
function ceilingOf({ ceiling, max, rampLeftMs }: LiveShare, { pool }: TopSnapshot): string {
  if (ceiling === undefined) return "no ceiling yet";
  const of = max === undefined ? "" : ` of ${countText(max)}`;
  const step = pool?.settings.rampPerSecond;
  const ramp =
    rampLeftMs === undefined || rampLeftMs <= 0
      ? ""
      : step === undefined
        ? `, at its top in ${durationText(rampLeftMs)}`
        : `, +${perSecondText(rounded(step))} each second`;
  return `ceiling ${perSecondText(rounded(ceiling))}${of}${ramp}`;
}

function storeOf({ syncAgeMs = 0, syncMs }: LiveShare): string {
  if (syncAgeMs > 2 * MS_PER_SECOND) return `store silent for ${durationText(syncAgeMs)}`;
  return syncMs === undefined
    ? `store answered ${durationText(syncAgeMs)} ago`
    : `store answers in ${durationText(syncMs)}`;
}

/** Share and lease of each member, as many as fit in one line. */
function* memberLines({ pool }: TopSnapshot, width: number): Generator<string> {
  const members = (pool?.members ?? [])
    .filter(({ state }) => state !== "left")
    .slice(0, MEMBERS_MAX)
    .map(({ id, share, leaseLeftMs, isThis }) => {
      const lease = leaseLeftMs === undefined ? "no lease" : durationText(leaseLeftMs);
      return `${id.slice(0, 4)} ${perSecondText(rounded(share))}${isThis ? " lease" : ""} ${lease}`;
    });
  if (members.length > 0) yield cut(`${" ".repeat(12)}${members.join("   ")}`, width);
}
