import type { Work } from "../gate/call/watched-call.ts";
import { chainOf } from "../outcome/error.ts";
import type { Verdict } from "../outcome/verdict.ts";
import { requestOf, urlOf } from "./request-like.ts";

type FetchInput = Parameters<typeof globalThis.fetch>[0];

/** Whether an answer may be that of a place to which the request was sent on. */
export function followsRedirects(input: FetchInput, init: RequestInit | undefined): boolean {
  return (init?.redirect ?? requestOf(input)?.redirect ?? "follow") === "follow";
}

/** One attempt, and who hears what it was judged to be. */
export interface Attempted {
  readonly work: Work<Response>;
  readonly onVerdict: (verdict: Verdict) => void;
}

/**
 * The attempt, judged with regard to redirects: whoever sends a request on may have executed it
 * before, so that the next one has not begun it says nothing. Not begun is then only what was not
 * redirected, or could not connect to the host of the request itself.
 */
export function heedRedirects({ work, onVerdict }: Attempted, input: FetchInput): Attempted {
  let mayHaveBegun = true;
  return {
    work: async (signal) => {
      try {
        const response = await work(signal);
        mayHaveBegun = wasRedirected(response);
        return response;
      } catch (error) {
        mayHaveBegun = !isAboutHostOf(urlOf(input), error);
        throw error;
      }
    },
    onVerdict: (verdict) => onVerdict(mayHaveBegun ? asBegun(verdict) : verdict),
  };
}

function asBegun(verdict: Verdict): Verdict {
  return verdict.retriable === "safe" ? { ...verdict, retriable: "if-idempotent" } : verdict;
}

/** An answer of another make that does not say so may have been. */
function wasRedirected({ redirected }: { readonly redirected?: unknown }): boolean {
  return redirected !== false;
}

/** Whether the error names, as what could not be reached, the host of this address. */
function isAboutHostOf(url: URL | undefined, error: unknown): boolean {
  if (url === undefined) return false;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  for (const { hostname, address, port } of chainOf(error)) {
    if (hostname !== undefined) return hostname === host;
    if (address !== undefined) return address === host && port === portOf(url);
  }
  return false;
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}
