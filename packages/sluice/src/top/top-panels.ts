import { bytesText, countText, durationText, perSecondText } from "@sluice/gateway/internal";
import { cut } from "./paint.ts";
import type { TopSnapshot } from "./state-answer.ts";
import { localName } from "./top-rows.ts";
import { rounded } from "./top-table.ts";

const PRODUCERS_MAX = 8;
const POOLS_MAX = 4;

/** Producers that wait; empty if none does. */
export function* producerLines({ why }: TopSnapshot, width: number): Generator<string> {
  const producers = why.waiting.flatMap(({ topic, turn, producers: waiting }) =>
    waiting.map((producer) => ({ ...producer, topic, turn })),
  );
  if (producers.length === 0) return;
  yield "";
  yield cut(" PRODUCERS      TOPIC          ASKS FOR       GETS    HELD  HOW", width);
  for (const producer of producers.slice(0, PRODUCERS_MAX)) {
    const { name, topic, asked, turn, heldFrames, heldBytes, told } = producer;
    const wait = told === undefined ? "" : `told to wait ${durationText(told.pauseMs)}`;
    const cells = [
      ` ${cut(name, 14)}`.padEnd(16),
      cut(localName(topic), 13).padEnd(14),
      (asked === undefined ? "" : perSecondText(asked)).padStart(9),
      (turn === undefined ? "" : perSecondText(turn)).padStart(11),
      countText(heldFrames).padStart(8),
      `  ${heldFrames > 0 ? `held, ${bytesText(heldBytes)}` : wait}`,
    ];
    yield cells.join("").slice(0, width).trimEnd();
  }
}

/** The pools of the vertices; empty without a store. */
export function* fleetLines({ state }: TopSnapshot, width: number): Generator<string> {
  const pools = (state.pipelines ?? []).flatMap(({ name, vertices }) =>
    vertices.flatMap(({ name: vertex, rateLimit }) =>
      typeof rateLimit?.members === "number" ? [{ pool: `${name}/${vertex}`, ...rateLimit }] : [],
    ),
  );
  if (pools.length > 0) yield "";
  for (const [index, { pool, members, ceiling, share, storeAgeMs }] of pools
    .slice(0, POOLS_MAX)
    .entries()) {
    const text = [
      (index === 0 ? " FLEET" : "").padEnd(12),
      `${pool}: ${members} ${members === 1 ? "member" : "members"}`,
      ceiling === null ? "" : `   ceiling ${perSecondText(rounded(ceiling))}`,
      share === null ? "" : `, this member ${perSecondText(rounded(share))}`,
      storeAgeMs === null ? "" : `   store answered ${durationText(storeAgeMs)} ago`,
    ].join("");
    yield cut(text, width);
  }
}
