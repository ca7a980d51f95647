import type { Work } from "../gate/call/work.ts";
import { chainOf } from "../outcome/error.ts";
import type { Verdict } from "../outcome/verdict.ts";
import { requestOf, urlOf } from "./request-like.ts";

type FetchInput = Parameters<typeof globalThis.fetch>[0];

/** Whether the answer may come from the target of a redirect. */
export function followsRedirects(input: FetchInput, init: RequestInit | undefined): boolean {
  return (init?.redirect ?? requestOf(input)?.redirect ?? "follow") === "follow";
}

/** One attempt, and the listener for its verdict. */
export interface Attempted {
  readonly work: Work<Response>;
  readonly onVerdict: (verdict: Verdict) => void;
}

/**
 * The attempt, judged with regard to redirects: a server that redirects a request may have executed it before, so
 * a refusal by the target of the redirect does not make a retry safe. Safe are only attempts that were not
 * redirected, and attempts that could not connect to the host of the request itself.
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

/** An answer of another `fetch` that has no `redirected` may have been redirected. */
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
