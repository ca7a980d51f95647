import type { LiveSample, LiveWait } from "../../live/live-message.ts";
import { pausedSentence, sentenceOf, untilOf } from "../../why/sentences.ts";
import {
  failedSentence,
  vertexSentence,
  vertexSetting,
  vertexTry,
  vertexUntil,
  workingSentence,
  workingUntil,
  workingWord,
} from "../../why/vertex-sentences.ts";
import { tryText } from "../../why/why-lines.ts";

/** One of the waits, in sentences. */
export interface TopWait {
  /** The row that waits. */
  readonly row: string;
  readonly reason: string;
  readonly sentence: string;
  readonly until?: string | undefined;
  readonly setting?: string | undefined;
  readonly command?: string | undefined;
}

/** All waits, in the order of the sample: lost stores first, then those that hold back most. */
export function waitsOf({ waits }: LiveSample): readonly TopWait[] {
  return waits.map(waitOf);
}

function waitOf(wait: LiveWait): TopWait {
  switch (wait.kind) {
    case "publish": {
      const { why } = wait;
      return {
        row: rowOfLimiter(why.reason === "topic-rate" ? `topic ${why.topic}` : why.limiter),
        reason: why.reason,
        sentence: sentenceOf(why),
        until: untilOf(why),
        setting: why.setting.path,
        command: tryText(why),
      };
    }
    case "paused": {
      const [first] = wait.whys;
      return {
        row: first?.becauseOfTopic === undefined ? "broker" : `topic ${first.becauseOfTopic}`,
        reason: first?.reason ?? "",
        sentence: pausedSentence(wait.whys),
        setting: first?.setting.path,
      };
    }
    case "vertex": {
      const { why } = wait;
      return {
        row: `vertex ${why.pipeline}/${why.vertex}`,
        reason: why.reason,
        sentence: vertexSentence(why),
        until: vertexUntil(why),
        setting: vertexSetting(why),
        command: vertexTry(why),
      };
    }
    case "working": {
      const { why } = wait;
      return {
        row: `vertex ${why.pipeline}/${why.vertex}`,
        reason: workingWord(why),
        sentence: workingSentence(why),
        until: workingUntil(why),
      };
    }
    case "failed":
      return {
        row: `pipeline ${wait.why.pipeline}`,
        reason: "failed",
        sentence: failedSentence(wait.why),
      };
  }
}

/** "group analytics" and "topic NAME" are rows; any other limiter is the broker's. */
function rowOfLimiter(limiter: string): string {
  return /^(?:group|topic) /.test(limiter) ? limiter : "broker";
}
