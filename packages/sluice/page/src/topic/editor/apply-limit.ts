import type { LiveLimit } from "../../../../src/live/live-message.ts";
import { changeLimit, limitPath } from "../../api/change-limit.ts";
import type { LimitChange } from "../../api/change-limit.ts";
import { toast } from "../../frame/toast.tsx";
import { askForToken } from "../../frame/token.ts";
import { limitText } from "../../words/numbers.ts";
import type { LimitView } from "../model/limit-view.ts";
import { takeBack } from "../../parts/take-back.ts";

export type Applied = "applied" | "read only" | { readonly refused: string };

/** Sets the limit at the level of the target, and says so with a way back. */
export async function applyLimit(
  view: LimitView,
  wanted: LiveLimit,
  { isOfFile }: { readonly isOfFile: boolean },
): Promise<Applied> {
  const change = changeOf(view.target, wanted);
  const result = await changeLimit(change);
  if (result.kind === "read only") {
    askForToken();
    return "read only";
  }
  if (result.kind === "refused") return { refused: result.message.replace(/\.$/, "") };
  const was = limitText(view.limit ?? {});
  const note = result.note === undefined ? "" : ` (${result.note})`;
  const all = view.isShared ? ", on all gateways" : "";
  // The limit of the flow file holds again once the change is removed.
  const undo = isOfFile ? "unset" : result.undo;
  toast(`${view.label} takes ${limitText(wanted)} now${all}${note}. It was ${was}.`, () => {
    void takeBack(change, undo, `${view.label} takes ${was} again.`);
  });
  return "applied";
}

function changeOf(target: LimitView["target"], wanted: LiveLimit): LimitChange {
  const path = "name" in target ? limitPath(target.kind, target.name) : limitPath(target.kind);
  const { messages, bytes } = wanted;
  const isNone = messages === undefined && bytes === undefined;
  return {
    path,
    body: isNone
      ? { unlimited: true }
      : { ...(messages !== undefined && { messages }), ...(bytes !== undefined && { bytes }) },
  };
}
