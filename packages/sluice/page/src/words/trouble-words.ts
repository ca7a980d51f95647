import type { LiveWait } from "../../../src/live/live-message.ts";
import { countedText, durationText } from "./numbers.ts";
import { strong } from "./phrase.ts";
import type { Phrase } from "./phrase.ts";
import { behindText } from "./wait/vertex-words.ts";
import { sentences } from "./wait/wait-words.ts";
import type { WaitWords } from "./wait/wait-words.ts";

type Working = Extract<LiveWait, { readonly kind: "working" }>["why"];
type Failed = Extract<LiveWait, { readonly kind: "failed" }>["why"];

/** A map or a sink that hangs, whose messages fail again and again, or whose program does not run. */
export function workingWords(why: Working): WaitWords {
  const { vertex, role, peer, messages, failure, waitsFor, forMs, untilInMs } = why;
  const batch = messages === 1 ? "one message" : `a batch of ${countedText(messages, "message")}`;
  const behind = behindText(why);
  const silent = role === "map" ? "Its map" : (peer ?? "Its sink");
  if (waitsFor !== undefined)
    return {
      trouble: "down",
      lead: [
        strong(vertex),
        messages === 0 ? ` waits ${waitsFor}.` : ` waits with ${batch}, ${waitsFor}.`,
      ],
      more: sentences(behind),
      forMs,
      until: role === "source" ? sourceUntil(untilInMs) : startUntil(untilInMs),
    };
  if (failure !== undefined)
    return {
      trouble: "failing",
      lead: [strong(vertex), ` tries ${batch} again and again.`],
      more: sentences(`The last try failed: ${failure.replace(/\.$/, "")}`, behind),
      forMs,
      until: ["until a try succeeds"],
    };
  return {
    trouble: "working",
    lead: [strong(vertex), ` works on ${batch}.`],
    more: sentences(`${silent} has not answered`, behind),
    forMs,
    until:
      untilInMs === undefined
        ? undefined
        : ["the call is given up in ", strong(durationText(untilInMs))],
  };
}

/** A pipeline that does not run. */
export function failedWords({ pipeline, error, starts, nextInMs }: Failed): WaitWords {
  const often = starts === 1 ? "" : `It has failed ${starts} times in a row`;
  return {
    trouble: "failed",
    lead: ["Pipeline ", strong(pipeline), " does not run."],
    more: sentences(error.replace(/\.$/, ""), often),
    until: ["next start in ", strong(durationText(nextInMs))],
  };
}

function startUntil(untilInMs: number | undefined): Phrase {
  if (untilInMs === undefined) return ["until it can be started"];
  return ["until it can be started; the next try ends in ", strong(durationText(untilInMs))];
}

function sourceUntil(untilInMs: number | undefined): Phrase {
  if (untilInMs === undefined) return ["until the source answers"];
  return ["until a read succeeds; the next one is tried in ", strong(durationText(untilInMs))];
}
