import { sentenceOf, untilOf } from "../why/sentences.ts";
import {
  failedSentence,
  vertexSentence,
  vertexSetting,
  vertexTry,
  vertexUntil,
  workingSentence,
  workingUntil,
  workingWord,
} from "../why/vertex-sentences.ts";
import { tryText } from "../why/why-lines.ts";
import type { WholeWhy } from "../why/why-lines.ts";

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

/** All waits: pipelines that do not run, topics, then vertices. */
export function waitsOf({ waiting, pipelines }: WholeWhy): readonly TopWait[] {
  const { vertices = [], working = [], failed = [] } = pipelines ?? {};
  return [
    ...failed.map((one) => ({
      row: `pipeline ${one.pipeline}`,
      reason: "failed",
      sentence: failedSentence(one),
    })),
    ...waiting.map((one) => ({
      row: `topic ${one.topic}`,
      reason: one.reason,
      sentence: sentenceOf(one),
      until: untilOf(one),
      setting: one.setting.path,
      command: tryText(one),
    })),
    ...working.map((one) => ({
      row: `vertex ${one.pipeline}/${one.vertex}`,
      reason: workingWord(one),
      sentence: workingSentence(one),
      until: workingUntil(one),
    })),
    ...vertices.map((one) => ({
      row: `vertex ${one.pipeline}/${one.vertex}`,
      reason: one.reason,
      sentence: vertexSentence(one),
      until: vertexUntil(one),
      setting: vertexSetting(one),
      command: vertexTry(one),
    })),
  ];
}
