import { authorization, refuseToken } from "../live/live-store.ts";
import { undoOf } from "./undo-of.ts";
import type { LimitChange, Rates } from "./undo-of.ts";

export type { LimitChange } from "./undo-of.ts";

export type ChangeResult =
  | {
      readonly kind: "applied";
      readonly undo: LimitChange | "unset";
      readonly note?: string | undefined;
    }
  | { readonly kind: "read only" }
  /** What was found and what is right, in a sentence. */
  | { readonly kind: "refused"; readonly message: string };

interface Changed {
  readonly from: Rates | null;
  readonly note?: string;
}

/** The path of a limit: each name is one segment. */
export function limitPath(...words: readonly string[]): string {
  return words.map(encodeURIComponent).join("/");
}

/** Sets a limit. What was set before comes back for Undo. */
export async function changeLimit(change: LimitChange): Promise<ChangeResult> {
  return await send(change, "PUT", change.body);
}

/** Takes a change back: sets what was there before, or removes the limit that was not there. */
export async function undoLimit(
  change: LimitChange,
  undo: LimitChange | "unset",
): Promise<ChangeResult> {
  return undo === "unset" ? await send(change, "DELETE") : await send(undo, "PUT", undo.body);
}

async function send(
  change: LimitChange,
  method: "PUT" | "DELETE",
  body?: object,
): Promise<ChangeResult> {
  let response: Response;
  try {
    response = await fetch(`/api/limits/${change.path}`, {
      method,
      headers: {
        ...authorization(),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch {
    return { kind: "refused", message: "this member cannot be reached" };
  }
  if (response.status === 401 || response.status === 403) {
    refuseToken();
    return { kind: "read only" };
  }
  const answer: unknown = await response.json().catch(() => ({}));
  if (!response.ok) return { kind: "refused", message: messageOf(answer, response.status) };
  const { from, note } = answer as Changed;
  return { kind: "applied", undo: undoOf(change, from), note };
}

/** The administration answers `{ reason }`. */
function messageOf(answer: unknown, status: number): string {
  const { reason, error } = (answer ?? {}) as {
    readonly reason?: unknown;
    readonly error?: unknown;
  };
  const text = typeof reason === "string" ? reason : error;
  return typeof text === "string" ? text : `the server answered ${status}`;
}
