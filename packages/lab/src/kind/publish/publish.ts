import * as v from "valibot";
import { lineOfText, oneOf, whole } from "../../file/fields.ts";
import { limits } from "../../file/limits/limits.ts";
import type { PublishProducer } from "../../publish/publish-plan.ts";
import { runPublish } from "../../publish/run-publish.ts";
import { defineKind } from "../../scenario/kind.ts";
import type { Kind } from "../../scenario/kind.ts";
import { full, NO_LIMITS, problemsOfLimits, withFullNames } from "../flow/flow-limits.ts";
import { topicName } from "../flow/flow-names.ts";
import { problemsOfProducers, publishProducers } from "./publish-producers.ts";
import type { FileProducers } from "./publish-producers.ts";
import { publishReport } from "./publish-report.ts";

const MAX_SECONDS = 86_400;

/** Producers against the publish limits of a gateway, without wire and clients: a run takes milliseconds. */
export const publishKind: Kind = defineKind(
  {
    limits: v.optional(limits({ topic: topicName(), pattern: lineOfText() }), NO_LIMITS),
    turns: v.optional(oneOf("fair", "arrival"), "fair"),
    producers: publishProducers(),
    durationS: whole(1, MAX_SECONDS),
  },
  ({ title, limits: given, turns, producers: file, durationS, seed }) => {
    const producers = file.flatMap(each);
    const result = runPublish({
      limits: withFullNames(given),
      turns,
      producers,
      durationS,
      seed,
    });
    return publishReport({ title, turns, file, limits: given, durationS }, producers, result);
  },
  ({ limits: given, producers, durationS }) => [
    ...problemsOfLimits(given),
    ...problemsOfProducers(producers, durationS),
  ],
);

/** `count` producers, with ids `p-1`, `p-2`, … if they are several. */
function each(producer: FileProducers): PublishProducer[] {
  const { id, topic, count, connection, ...same } = producer;
  return Array.from({ length: count }, (_, index) => {
    const name = count === 1 ? id : `${id}-${index + 1}`;
    return { ...same, id: name, topic: full(topic), connection: String(connection ?? name) };
  });
}
