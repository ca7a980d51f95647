import type { Reason } from "@sluice/core";
import type { LiveWait } from "../../../../src/live/live-message.ts";
import { inPathOrder } from "../reasons.ts";

/** What a row of "Waiting now" waits for; undefined for one that hangs or has failed. */
function reasonOf(wait: LiveWait): Reason | undefined {
  switch (wait.kind) {
    case "publish":
    case "vertex":
      return wait.why.reason;
    case "paused":
      return wait.whys[0]?.reason;
    case "working":
    case "failed":
      return undefined;
  }
}

/** The reasons of all rows, each once, in the order of the path. */
export function reasonsOf(waits: readonly LiveWait[]): readonly Reason[] {
  return inPathOrder(waits.flatMap((wait) => reasonOf(wait) ?? []));
}
