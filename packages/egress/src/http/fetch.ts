import { requireDuration } from "@sluice/core/internal";
import { NO_OPTIONS } from "../gate/call-options.ts";
import type { CallOptions } from "../gate/call-options.ts";
import type { GatePermit } from "../gate/gate-permit.ts";
import type { Gate } from "../gate/gate.ts";
import { GateMap } from "../gate/gates.ts";
import type { GateKeeping } from "../gate/gates.ts";
import type { GateOptions } from "../gate/options.ts";
import { eitherSignal } from "./either-signal.ts";
import { holdUntilBodyEnds } from "./held-response.ts";
import { Origins } from "./origins.ts";
import { followsRedirects, heedRedirects } from "./redirect.ts";
import { isIdempotent, isReplayable } from "./replay.ts";
import { signalOf } from "./request-like.ts";

type Fetch = typeof globalThis.fetch;
type FetchInput = Parameters<Fetch>[0];

/** How requests are told apart. */
export interface FetchKeys extends GateKeeping {
  /** The key of a request: its origin unless given. Requests of one key share a gate. */
  readonly of?: (input: FetchInput, init: RequestInit | undefined) => string;
}

export interface ThrottledFetchOptions extends GateOptions {
  readonly keys?: FetchKeys;
  /** What every request asks of its gate, or what each one does. Its signal counts besides the request's. */
  readonly call?: CallOptions | ((input: FetchInput, init: RequestInit | undefined) => CallOptions);
  /** A body that nobody reads from for so long gives up its permit if needed; 10 000 unless given. */
  readonly bodyTimeoutMs?: number;
  /** What really sends; the global `fetch` unless given. */
  readonly fetch?: Fetch;
}

/** `fetch`, and the gates behind it. */
export interface ThrottledFetch {
  (input: FetchInput, init?: RequestInit): Promise<Response>;
  /** One per key. Closing them refuses what waits and what comes. */
  readonly gates: GateMap;
}

/**
 * A `fetch` with a gate per origin: to be used like the one it replaces. It answers what that
 * answers and fails as that fails, and rejects with a `ThrottledError` if the gate refuses.
 *
 * The time until the fields of the answer are there is the peer's time of service; the permit stays
 * out until the body has been read, cancelled or broken off, so a stream counts while it flows. The
 * deadline covers the body as well.
 */
export function throttledFetch(options: ThrottledFetchOptions = {}): ThrottledFetch {
  const { keys = {}, call = NO_OPTIONS, bodyTimeoutMs = 10_000, fetch: send, ...gate } = options;
  const origins = new Origins();
  const { of: keyOf = (input: FetchInput) => origins.of(input), ...keeping } = keys;
  requireDuration("bodyTimeoutMs", bodyTimeoutMs);
  const gates = new GateMap({ ...keeping, gate });
  const keep = (response: Response, permit: GatePermit): boolean =>
    holdUntilBodyEnds(response, permit, bodyTimeoutMs);

  const throttled = (input: FetchInput, init?: RequestInit): Promise<Response> => {
    // Looked up late, so that whoever replaces the global one is heard.
    const sender = send ?? globalThis.fetch;
    let key: string | undefined;
    let callOptions: CallOptions;
    const own = signalOf(input, init);
    try {
      key = keyOf(input, init);
      callOptions = withSignal(typeof call === "function" ? call(input, init) : call, own);
    } catch (error) {
      return Promise.reject(error);
    }
    // Not a request at all: let the original say so.
    if (key === undefined) return sender(input, init);
    // A signal of its own the request has already; whatever else may end it has to reach it too.
    const work =
      callOptions.deadlineMs === undefined && callOptions.signal === own
        ? (): Promise<Response> => sender(input, init)
        : (signal: AbortSignal): Promise<Response> => sender(input, { ...init, signal });
    return start(gates.for(key), work, { callOptions, input, init, keep });
  };
  return Object.assign(throttled, { gates });
}

interface Sending {
  readonly callOptions: CallOptions;
  readonly input: FetchInput;
  readonly init: RequestInit | undefined;
  readonly keep: (response: Response, permit: GatePermit) => boolean;
}

function start(
  gate: Gate,
  work: (signal: AbortSignal) => Promise<Response>,
  { callOptions, input, init, keep }: Sending,
): Promise<Response> {
  const { retrier } = gate;
  if (retrier === undefined || !isReplayable(input, init))
    return gate.runHooked(work, callOptions, { keep });
  const idempotent = callOptions.idempotent ?? isIdempotent(input, init);
  const isWary = !idempotent && followsRedirects(input, init);
  return retrier.run(
    (attempt, hooks) => {
      const { onVerdict } = hooks;
      if (!isWary || onVerdict === undefined)
        return gate.runHooked(work, attempt, { ...hooks, keep });
      const wary = heedRedirects({ work, onVerdict }, input);
      return gate.runHooked(wary.work, attempt, { ...hooks, onVerdict: wary.onVerdict, keep });
    },
    idempotent ? { ...callOptions, idempotent } : callOptions,
    discardBody,
  );
}

/** The options, with the request's own signal besides the one that they may have. */
function withSignal(options: CallOptions, own: AbortSignal | undefined): CallOptions {
  if (own === undefined) return options;
  const { signal = own } = options;
  return { ...options, signal: signal === own ? own : eitherSignal(signal, own) };
}

function discardBody(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
