import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { authorization, changes } from "../live/live-store.ts";
import type { SetLimit } from "./model/quiet-limits.ts";

const known = signal<readonly SetLimit[]>([]);

/** The limits of publishing that are set, also of topics without traffic. */
export const setLimits: ReadonlySignal<readonly SetLimit[]> = known;

/** Asks for them when the page is opened, and again after a change of a limit. */
export function useSetLimits(): void {
  const latestChange = changes.value.find(({ kind }) => kind.includes("limit"))?.id;
  useEffect(() => {
    const ending = new AbortController();
    void load(ending.signal);
    return () => ending.abort();
  }, [latestChange]);
}

/** What was known stays if the member cannot be reached. */
async function load(ending: AbortSignal): Promise<void> {
  try {
    const response = await fetch("/api/limits", { headers: authorization(), signal: ending });
    if (!response.ok) return;
    const { limits = [] } = (await response.json()) as { readonly limits?: readonly SetLimit[] };
    known.value = limits;
  } catch {
    // The stream tells that the connection is lost.
  }
}
