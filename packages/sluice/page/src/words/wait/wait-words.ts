import type { Reason } from "@sluice/core";
import type { LiveSample, LiveWait } from "../../../../src/live/live-message.ts";
import { pausedWords } from "./paused-words.ts";
import type { Phrase } from "../phrase.ts";
import { publishWords } from "./publish-words.ts";
import { failedWords, workingWords } from "../trouble-words.ts";
import { vertexWords } from "./vertex-words.ts";

/** A row of "Waiting now" in words: who waits for what; why, in the numbers of the limit; facts. */
export interface WaitWords {
  readonly reason?: Reason | undefined;
  /** One word in place of a reason: "down", "failing", "working", "failed". */
  readonly trouble?: string | undefined;
  readonly lead: Phrase;
  readonly more: string;
  readonly forMs?: number | undefined;
  /** When it ends, with its first word: "until …", "ends in …". Absent if that is not known. */
  readonly until?: Phrase | undefined;
  readonly because?: string | undefined;
}

/** What is not known of a wait is left out, never guessed. The sample has the numbers of the limit. */
export function waitWords(wait: LiveWait, sample: LiveSample): WaitWords {
  switch (wait.kind) {
    case "publish":
      return publishWords(wait, sample);
    case "paused":
      return pausedWords(wait);
    case "vertex":
      return vertexWords(wait.why, sample);
    case "working":
      return workingWords(wait.why);
    case "failed":
      return failedWords(wait.why);
  }
}

/** Sentences from their parts; an empty part is left out. */
export function sentences(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => `${part}.`)
    .join(" ");
}
