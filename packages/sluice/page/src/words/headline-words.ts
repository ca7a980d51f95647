import type { LiveSample, LiveVertex, LiveWait } from "../../../src/live/live-message.ts";
import { peerName, topicName } from "./names.ts";
import { countText, durationText, rateText, timesText } from "./numbers.ts";
import { strong } from "./phrase.ts";
import type { Phrase } from "./phrase.ts";

/** The sentence of Overview: what comes in, what goes out, how much waits, and where it is tightest. */
export function headlineWords(sample: LiveSample): Phrase {
  return [...flowPhrase(sample), ...waitPhrase(sample)];
}

function flowPhrase({ gateway, pipelines }: LiveSample): Phrase {
  const sinks = pipelines.flatMap(({ vertices }) => vertices.filter(({ kind }) => kind === "sink"));
  const out = sinks.reduce((sum, one) => sum + outRate(one), 0);
  const [sink] = sinks;
  const where =
    sinks.length === 1 && sink !== undefined
      ? `reach ${serviceOf(sink)}. `
      : "leave the pipelines. ";
  const leaves: Phrase = [strong(rateText(out)), ` ${where}`];
  if (gateway !== undefined) {
    const comes: Phrase = [strong(rateText(gateway.rate.messages)), " come in"];
    return sinks.length === 0 ? [...comes, ". "] : [...comes, ", ", ...leaves];
  }
  const read = pipelines.reduce((sum, { vertices }) => sum + (vertices[0]?.rate ?? 0), 0);
  return sinks.length === 0 ? [] : [strong(rateText(read)), " are read, ", ...leaves];
}

function outRate({ rate, gate }: LiveVertex): number {
  return gate?.ok ?? rate;
}

function serviceOf({ gate, peer, name }: LiveVertex): string {
  return gate?.service ?? peerName(peer) ?? name;
}

function waitPhrase(sample: LiveSample): Phrase {
  const count = sample.waits.length + sample.waitsLeftOut;
  const [first] = sample.waits;
  if (first === undefined) return ["Nothing waits."];
  const special = specialPhrase(first, sample);
  if (special !== undefined) return special;
  const things = count === 1 ? "1 thing waits" : `${countText(count)} things wait`;
  const point = tightest(first, sample);
  if (point.length === 0) return [`${things}.`];
  return [`${things}; ${count === 1 ? "it is " : "the tightest point is "}`, ...point, "."];
}

/** A lost store, a pause of the service or a failed pipeline is said in place of the count. */
function specialPhrase(wait: LiveWait, { pipelines }: LiveSample): Phrase | undefined {
  if (wait.kind === "failed")
    return [
      "Pipeline ",
      strong(wait.why.pipeline),
      " does not run: ",
      `${wait.why.error.replace(/\.$/, "")}.`,
    ];
  if (wait.kind !== "vertex") return undefined;
  const { reason, share, queue, pipeline, vertex } = wait.why;
  const found = pipelines.find(({ name }) => name === pipeline);
  const gate = found?.vertices.find(({ name }) => name === vertex)?.gate;
  if (reason === "store-lost") {
    const safe =
      share?.share === undefined ? "safe share" : `safe share of ${rateText(share.share)}`;
    const behind =
      queue === undefined || queue === 0 ? "" : `; ${countText(queue)} messages are behind`;
    return ["The store is lost, so this member keeps to its ", strong(safe), `${behind}.`];
  }
  if (reason !== "retry-after") return undefined;
  const service = gate?.service ?? "The service";
  const leftMs = gate?.pause?.leftMs ?? wait.why.untilInMs;
  const left = leftMs === undefined ? "" : `; nothing is sent for another ${durationText(leftMs)}`;
  return [strong(`${service} asked for a pause`), `${left}.`];
}

function tightest(wait: LiveWait, { gateway, pipelines }: LiveSample): Phrase {
  switch (wait.kind) {
    case "publish": {
      const { reason, topic, limiter, turn, becauseOf } = wait.why;
      const where =
        reason === "topic-rate"
          ? topicName(topic)
          : reason === "broker-rate"
            ? "the gateway"
            : limiter;
      const times = turn === undefined || becauseOf === undefined ? 0 : becauseOf.asked / turn;
      if (times < 1.05 || becauseOf === undefined) return [strong(where)];
      return [strong(where), `: ${becauseOf.producer} asks for ${timesText(times)} its fair turn`];
    }
    case "paused":
      return [
        strong(wait.whys[0]?.reason === "memory" ? "memory" : "a connection"),
        gateway === undefined ? "" : " of the gateway",
      ];
    case "vertex": {
      const { reason, pipeline, vertex } = wait.why;
      const found = pipelines.find(({ name }) => name === pipeline);
      const gate = found?.vertices.find(({ name }) => name === vertex)?.gate;
      if (reason === "fleet-share")
        return [
          strong(
            wait.why.share?.rampLeftMs === undefined
              ? `the rate of ${vertex}`
              : `the ramp of ${vertex}`,
          ),
        ];
      if (gate === undefined) return [strong(vertex)];
      if (reason === "concurrency" && gate.rttMs !== undefined)
        return [strong(gate.service), `, which answers in ${durationText(gate.rttMs)}`];
      return [strong(gate.service)];
    }
    case "working":
      return [strong(wait.why.vertex)];
    case "failed":
      return [];
  }
}
