type FetchInput = Parameters<typeof globalThis.fetch>[0];

/** The parts of a request that are read here, of any class: undici's `Request` is not the global one. */
export interface RequestLike {
  readonly url?: unknown;
  readonly method: string;
  readonly redirect?: unknown;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** The input if it looks like a request; undefined for an address and for any other value. */
export function requestOf(input: FetchInput): RequestLike | undefined {
  return typeof input === "string" || input instanceof URL || !isRequest(input) ? undefined : input;
}

function isRequest(input: unknown): input is RequestLike {
  if (typeof input !== "object" || input === null) return false;
  return "method" in input && typeof input.method === "string";
}

/** The address of the request, as `fetch` reads it; undefined if it is no address. */
export function urlOf(input: FetchInput): URL | undefined {
  if (input instanceof URL) return input;
  try {
    const address: unknown = typeof input === "string" ? input : (requestOf(input)?.url ?? input);
    return new URL(String(address), baseUrl());
  } catch {
    return undefined;
  }
}

/** The base of relative addresses: a browser has one, Node has none. */
function baseUrl(): string | undefined {
  const { document, location } = globalThis as Surroundings;
  return document?.baseURI ?? location?.href;
}

interface Surroundings {
  readonly document?: { readonly baseURI?: string };
  readonly location?: { readonly href?: string };
}

/** The signal of the request itself. */
export function signalOf(
  input: FetchInput,
  init: RequestInit | undefined,
): AbortSignal | undefined {
  // Null takes the signal of the input away.
  if (init?.signal !== undefined) return init.signal ?? undefined;
  return requestOf(input)?.signal;
}
