import * as v from "valibot";
import { list, map, whole } from "../../file/fields.ts";
import type { Problem } from "../../file/problem.ts";
import { sum } from "../../simulation/fairness.ts";
import { connectionName, producerId, topicName } from "../flow/flow-names.ts";
import { rateOrList } from "../per-second.ts";

/** Producers as the file has them: `count` equal ones. */
export interface FileProducers {
  readonly id: string;
  readonly topic: string;
  readonly perSecond: number | readonly number[];
  readonly count: number;
  readonly bytes: number;
  readonly batch: number;
  readonly connection?: string | number | undefined;
}

const PRODUCERS_MAX = 1_000;
/** Frames of a run: some minutes of computing. */
const FRAMES_MAX = 10_000_000;
/** Producers × seconds: a count is kept for each. */
const COUNTS_MAX = 5_000_000;
/** As large as a broker takes a message by default. */
const BYTES_MAX = 5 * 1024 * 1024;

export function publishProducers(): v.GenericSchema<unknown, FileProducers[]> {
  return v.pipe(
    list(
      map({
        id: producerId(),
        topic: topicName(),
        perSecond: rateOrList(10_000_000),
        count: v.optional(whole(1, PRODUCERS_MAX), 1),
        bytes: v.optional(whole(1, BYTES_MAX), 1_000),
        batch: v.optional(whole(1, 10_000), 1),
        connection: v.optional(connectionName()),
      }),
      PRODUCERS_MAX,
    ),
    v.minLength(1, "is empty; expected one at least"),
  );
}

/** Ids that stand twice, lists of another length than the run, and too much work. */
export function problemsOfProducers(
  producers: readonly FileProducers[],
  durationS: number,
): Problem[] {
  const ids = new Set<string>();
  let frames = 0;
  let all = 0;
  for (const [index, { id, perSecond, count, batch }] of producers.entries()) {
    const path = ["producers", index];
    if (ids.has(id))
      return [problem([...path, "id"], `is "${id}" a second time; expected an id of its own`)];
    ids.add(id);
    if (typeof perSecond !== "number" && perSecond.length !== durationS) {
      const message = `has ${perSecond.length} seconds; expected durationS, ${durationS}`;
      return [problem([...path, "perSecond"], message)];
    }
    const messages = typeof perSecond === "number" ? perSecond * durationS : sum(perSecond);
    frames += (count * messages) / batch;
    all += count;
  }
  if (all > PRODUCERS_MAX)
    return [
      problem(["producers"], `are ${all} with their counts; at most ${PRODUCERS_MAX} are run`),
    ];
  if (frames > FRAMES_MAX || all * durationS > COUNTS_MAX)
    return [
      problem(["durationS"], `makes too much to run; make it shorter, or the batches larger`),
    ];
  return [];
}

function problem(path: readonly (string | number)[], message: string): Problem {
  return { path, message, isMissing: false };
}
