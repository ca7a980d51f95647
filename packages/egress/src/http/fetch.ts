import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys } from "@sluice/core/internal";
import { NO_OPTIONS, requireCallOptions } from "../gate/options/call-options.ts";
import type { CallOptions, KnownCost } from "../gate/options/call-options.ts";
import type { GatePermit } from "../gate/permit/gate-permit.ts";
import type { Gate } from "../gate/gate.ts";
import { GateMap } from "../gate/gates.ts";
import type { GateKeeping } from "../gate/gates.ts";
import { requireFunction, requireSettings } from "../check-options.ts";
import { GATE_KEYS, isAdaptive } from "../gate/options/gate-options.ts";
import type { ConcurrencySetting, GateOptions } from "../gate/options/gate-options.ts";
import { eitherSignal } from "./either-signal.ts";
import { holdUntilBodyEnds } from "./held-response.ts";
import { Origins } from "./origins.ts";
import { respondIfRefused } from "./refused-response.ts";
import { followsRedirects, heedRedirects } from "./redirect.ts";
import { isIdempotent, isReplayable } from "./replay.ts";
import { signalOf } from "./request-like.ts";
import { isOfRetryingSdk } from "./sdk-request.ts";

type Fetch = typeof globalThis.fetch;
type FetchInput = Parameters<Fetch>[0];

/** The key of a request, and how many keys are kept. */
export interface FetchKeys extends GateKeeping {
  /** The key of a request: its origin unless given. Requests of one key share a gate. */
  readonly of?: (input: FetchInput, init: RequestInit | undefined) => string;
}

export interface ThrottledFetchOptions extends GateOptions {
  /** Requests in flight at once, of each key. Default: adaptive, from 10 on; `none` turns it off. */
  readonly concurrency?: ConcurrencySetting;
  /** Which requests share a gate. Default: those of one origin. */
  readonly keys?: FetchKeys;
  /**
   * What every request asks of its gate, or what each one does. Its signal counts besides the request's.
   * Default: the defaults of `CallOptions`.
   */
  readonly call?: CallOptions | ((input: FetchInput, init: RequestInit | undefined) => CallOptions);
  /**
   * A body that is not read for this time gives up its permit if a call needs it, in ms. Default: 1000 with an
   * adaptive concurrency, else 10 000.
   */
  readonly bodyTimeoutMs?: number;
  /**
   * Tells the real cost of a request by its response, to settle what `call` estimated; may answer later.
   * To read the body, read a clone: `async (response) => ({ tokens: (await response.clone().json()).usage })`.
   * Default: the cost stays as it was estimated.
   */
  costOf?(this: void, response: Response): KnownCost;
  /**
   * What becomes of a refused request. `throw`: a `ThrottledError`. `respond`: a response of status 429 that
   * says `x-should-retry: false`, for SDKs that take an error for a broken connection and send again.
   * Default: `auto`, which is `respond` for requests with the field `x-stainless-retry-count`, as those of `openai` and
   * `@anthropic-ai/sdk`, and else `throw`.
   */
  readonly refusals?: "auto" | "throw" | "respond";
  /** What really sends; the global `fetch` unless given. */
  readonly fetch?: Fetch;
}

/** `fetch`, and the gates behind it. */
export interface ThrottledFetch {
  (input: FetchInput, init?: RequestInit): Promise<Response>;
  /** One per key. Closing them refuses the calls that wait and that come. */
  readonly gates: GateMap;
  /** Closes all gates, and waits until their permits are back. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The default of `concurrency`: 10 requests at once before anything was measured, as many as TCP's first window has
 * segments (RFC 6928). Raised, a peer that serves fewer at once refuses more requests at first. From 1 on, the calls of
 * `bench -- llm` take 3.8 % longer, because the first answers take long and the burst of the rates is not used
 * meanwhile; from 6 on they take no longer than without a limit.
 */
const ADAPTIVE: ConcurrencySetting = { initialLimit: 10 };

/**
 * The default of `bodyTimeoutMs`. Raised, callers that leave bodies unread hold up the others for longer; lowered, a
 * slow reader of many bodies has more requests in flight than the limit. A limit that was set as a number is
 * exceeded later than one that is an estimate.
 */
const BODY_TIMEOUT_MS = 10_000;
const BODY_TIMEOUT_ADAPTIVE_MS = 1000;

const KEYS: ReadonlySet<string> = new Set([
  "keys",
  "call",
  "bodyTimeoutMs",
  "refusals",
  "fetch",
  ...GATE_KEYS,
]);

const REFUSALS: ReadonlySet<string> = new Set(["auto", "throw", "respond"]);

/**
 * A `fetch` with a gate per origin: to be used like the one it replaces. It answers what that
 * answers and fails as that fails, and rejects with a `ThrottledError` if the gate refuses; a request of an SDK
 * that would send again is answered with 429 instead (`refusals`).
 *
 * The time until the fields of the answer are there is the peer's time of service; the permit stays
 * out until the body has been read, cancelled or broken off, so a stream counts while it flows. The
 * deadline covers the body as well.
 *
 * Each gate finds by itself how many requests its origin takes at once, from 10 on; `concurrency: "none"` turns
 * that off.
 */
export function throttledFetch(options: ThrottledFetchOptions = {}): ThrottledFetch {
  requireSettings("the options of throttledFetch", options, 'rate: "10/s"');
  requireKnownKeys("throttledFetch", options, KEYS);
  const {
    keys = {},
    call = NO_OPTIONS,
    concurrency = ADAPTIVE,
    bodyTimeoutMs = isAdaptive(concurrency) ? BODY_TIMEOUT_ADAPTIVE_MS : BODY_TIMEOUT_MS,
    refusals = "auto",
    fetch: send,
    ...others
  } = options;
  requireSettings("keys", keys, "of: (input) => new URL(input).pathname");
  requireFunction("keys.of", keys.of);
  requireFunction("fetch", send);
  if (typeof call !== "function") requireSettings("call", call, "deadlineMs: 30_000");
  const gate = { ...others, concurrency };
  if (!REFUSALS.has(refusals))
    throw new ConfigError(`refusals is "${refusals}"; it must be "auto", "throw" or "respond"`);
  const origins = new Origins();
  const { of: keyOf = (input: FetchInput) => origins.of(input), ...keeping } = keys;
  requireDuration("bodyTimeoutMs", bodyTimeoutMs);
  const gates = new GateMap({ ...keeping, gate });
  const holding = { restMs: bodyTimeoutMs, isFresh: send === undefined };
  const keep = (response: Response, permit: GatePermit): boolean =>
    holdUntilBodyEnds(response, permit, holding);

  const throttled = (input: FetchInput, init?: RequestInit): Promise<Response> => {
    // Looked up for each request, so that a global `fetch` that was replaced later is used.
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
    // Not a request at all: the original throws the error.
    if (key === undefined) return sender(input, init);
    const { deadlineMs, attemptTimeoutMs = gate.attemptTimeoutMs } = callOptions;
    // The request has its own signal already; a deadline, timeout or other signal must reach it too.
    const work =
      deadlineMs === undefined && attemptTimeoutMs === undefined && callOptions.signal === own
        ? (): Promise<Response> => sender(input, init)
        : (signal: AbortSignal): Promise<Response> => sender(input, { ...init, signal });
    const sent = start(gates.for(key), work, { callOptions, input, init, keep });
    const isAnswered = refusals === "respond" || (refusals === "auto" && isOfRetryingSdk(init));
    return isAnswered ? sent.catch(respondIfRefused) : sent;
  };
  return Object.assign(throttled, {
    gates,
    [Symbol.asyncDispose]: () => gates[Symbol.asyncDispose](),
  });
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
  requireCallOptions(options);
  if (own === undefined) return options;
  const { signal = own } = options;
  return { ...options, signal: signal === own ? own : eitherSignal(signal, own) };
}

function discardBody(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
