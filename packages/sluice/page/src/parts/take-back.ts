import { undoLimit } from "../api/change-limit.ts";
import type { LimitChange } from "../api/change-limit.ts";
import { toast } from "../frame/toast.tsx";

/** Takes a change back, and tells `says` or why it could not. */
export async function takeBack(
  change: LimitChange,
  undo: LimitChange | "unset",
  says: string,
): Promise<void> {
  const back = await undoLimit(change, undo);
  if (back.kind === "applied") toast(says);
  else if (back.kind === "refused") toast(`Not undone: ${back.message}.`);
  else toast("Not undone: a token is needed.");
}
