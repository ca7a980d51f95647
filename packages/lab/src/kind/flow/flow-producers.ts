import { MESSAGE_BYTES_MAX } from "@sluice/pulsar/wire";
import * as v from "valibot";
import { flag, list, map, milliseconds, real, whole } from "../../file/fields.ts";
import type { Problem } from "../../file/problem.ts";
import { connectionName, producerId, topicName } from "./flow-names.ts";

/** A producer as the file has it. */
export interface FileProducer {
  readonly id: string;
  readonly topic: string;
  readonly perSecond: number;
  readonly bytes: number;
  readonly batch: number;
  readonly connection?: string | number | undefined;
  readonly aware: boolean;
  readonly fromS: number;
  readonly untilS?: number | undefined;
  readonly sendTimeoutMs: number;
  readonly maxPending: number;
}

const PRODUCERS_MAX = 1_000;

/** Messages of a run: some minutes of computing. */
const MESSAGES_MAX = 5_000_000;

/** What a message of a batch takes beside its bytes, at most. */
const BATCHED_BYTES = 64;

export function flowProducers(): v.GenericSchema<unknown, FileProducer[]> {
  return list(
    map({
      id: producerId(),
      topic: topicName(),
      perSecond: real(0.001, 1_000_000),
      bytes: v.optional(whole(1, MESSAGE_BYTES_MAX / 2), 1_000),
      batch: v.optional(whole(1, 10_000), 1),
      connection: v.optional(connectionName()),
      aware: v.optional(flag(), true),
      fromS: v.optional(real(0), 0),
      untilS: v.optional(real(0)),
      sendTimeoutMs: v.optional(milliseconds(0), 30_000),
      maxPending: v.optional(whole(1, 1_000_000), 1_000),
    }),
    PRODUCERS_MAX,
  );
}

/** Ids that stand twice, times that contradict each other, batches that no broker takes, and too much work. */
export function problemsOfProducers(
  producers: readonly FileProducer[],
  durationS: number,
): Problem[] {
  if (producers.length === 0) return [problem(["producers"], "is empty; expected one at least")];
  const ids = new Set<string>();
  let messages = 0;
  for (const [index, producer] of producers.entries()) {
    const { id, fromS, untilS = durationS, perSecond } = producer;
    const at = (key: string): (string | number)[] => ["producers", index, key];
    if (ids.has(id))
      return [problem(at("id"), `is "${id}" a second time; expected an id of its own`)];
    ids.add(id);
    if (fromS >= durationS)
      return [problem(at("fromS"), `is ${fromS}; expected less than durationS, ${durationS}`)];
    if (untilS <= fromS || untilS > durationS)
      return [
        problem(
          at("untilS"),
          `is ${untilS}; expected more than fromS, ${fromS}, and at most durationS, ${durationS}`,
        ),
      ];
    const size = problemOfSize(producer);
    if (size !== undefined) return [problem(at("batch"), size)];
    messages += perSecond * (untilS - fromS);
  }
  if (messages <= MESSAGES_MAX) return [];
  const wanted = `makes ${Math.ceil(messages)} messages; at most ${MESSAGES_MAX} are run`;
  return [problem(["durationS"], `${wanted}; make it shorter, or let producers send less`)];
}

function problemOfSize({ batch, bytes, maxPending }: FileProducer): string | undefined {
  if (batch > maxPending)
    return `is ${batch}; expected at most maxPending, ${maxPending}, or the batch would never be full`;
  const batchBytes = batch * (bytes + BATCHED_BYTES);
  if (batch === 1 || batchBytes <= MESSAGE_BYTES_MAX) return undefined;
  const most = Math.floor(MESSAGE_BYTES_MAX / (bytes + BATCHED_BYTES));
  return `is ${batch}; expected at most ${most} messages of ${bytes} bytes, because a broker takes ${MESSAGE_BYTES_MAX} bytes at once`;
}

function problem(path: readonly (string | number)[], message: string): Problem {
  return { path, message, isMissing: false };
}
