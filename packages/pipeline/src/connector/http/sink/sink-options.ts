import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type {
  BusySetting,
  ConcurrencySetting,
  Cost,
  GateObserver,
  RateSetting,
  RateSource,
  RetryOptions,
} from "@sluice/egress";
import type { TlsOptions } from "@sluice/pulsar";
import type { Message } from "../../../message.ts";

/** How several messages share a request. */
export interface HttpBatchOptions {
  /** `ndjson`: one line of JSON for each message. `json`: an array of them. Default: `ndjson`. */
  readonly format?: "ndjson" | "json" | undefined;
  /** Messages of one request at most. Default: 100. */
  readonly messagesMax?: number | undefined;
  /** Bytes of one body at most; a larger message goes alone. Default: 1 MiB. */
  readonly bytesMax?: number | undefined;
}

/** How requests go out: the settings of the gate before the service. */
export interface HttpRequestOptions {
  /** Requests in flight. Default: `adaptive`. */
  readonly concurrency?: ConcurrencySetting | undefined;
  /** Requests per time, such as `"500/s"`, or a limiter that a fleet shares. Default: not limited. */
  readonly rate?: RateSetting | RateSource | undefined;
  /**
   * Several rates by name that hold at once, `{ requests: "500/min", tokens: "200000/min" }`, instead of `rate`.
   * Default: none.
   */
  readonly rates?: Readonly<Record<string, RateSetting | RateSource>> | undefined;
  /** What one request takes of the rates, by their names: fixed, or by its messages. Default: 1 of each. */
  readonly cost?: Cost | ((messages: readonly Message[]) => Cost) | undefined;
  /** How the rate follows busy answers. Default: as of a gate, `off` with an adaptive concurrency. */
  readonly busy?: BusySetting | undefined;
  /** Longest time of one attempt, from its connection to the end of its answer, ms. Default: 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts within the sink, before the pipeline's own retries. Default: one attempt. */
  readonly retry?: RetryOptions | number | undefined;
}

export interface HttpSinkOptions {
  readonly url: string;
  /** What the service is called in events, `why` and errors, such as `payments`. Default: its host. */
  readonly name?: string | undefined;
  /** Default: `POST`. */
  readonly method?: "POST" | "PUT" | "PATCH" | undefined;
  /** Fields of every request, such as `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Several messages in one request. Default: each message has its own request. */
  readonly batch?: HttpBatchOptions | undefined;
  /** Headers of a message that its request carries. Default: `traceparent`, `tracestate` and `baggage`. */
  readonly carry?: readonly string[] | undefined;
  /** The field with the message's id, by which a service knows a repetition; false for none. Default: `idempotency-key`. */
  readonly idempotencyHeader?: string | false | undefined;
  /** How requests go out. Default: those of `HttpRequestOptions`. */
  readonly request?: HttpRequestOptions | undefined;
  /** For https URLs. Default: the CAs of Node, no certificate. */
  readonly tls?: TlsOptions | undefined;
  /** What the gate tells, for metrics. Default: none. */
  readonly observers?: GateObserver | readonly GateObserver[] | undefined;
}

/** The options, checked, with defaults. */
export interface HttpSinkSettings {
  readonly url: URL;
  /** For people. */
  readonly service: string;
  readonly method: "POST" | "PUT" | "PATCH";
  readonly headers: Readonly<Record<string, string>>;
  readonly batch: Required<HttpBatchSettings> | undefined;
  readonly carry: readonly string[];
  readonly idempotencyHeader: string | undefined;
  readonly request: HttpRequestOptions & { readonly timeoutMs: number };
  readonly tls: TlsOptions | undefined;
  readonly observers: HttpSinkOptions["observers"];
}

export interface HttpBatchSettings {
  readonly format: "ndjson" | "json";
  readonly messagesMax: number;
  readonly bytesMax: number;
}

const KNOWN: ReadonlySet<string> = new Set<keyof HttpSinkOptions>([
  "url",
  "name",
  "method",
  "headers",
  "batch",
  "carry",
  "idempotencyHeader",
  "request",
  "tls",
  "observers",
]);
const KNOWN_OF_BATCH: ReadonlySet<string> = new Set<keyof HttpBatchOptions>([
  "format",
  "messagesMax",
  "bytesMax",
]);
const KNOWN_OF_REQUEST: ReadonlySet<string> = new Set<keyof HttpRequestOptions>([
  "concurrency",
  "rate",
  "rates",
  "cost",
  "busy",
  "timeoutMs",
  "retry",
]);
const METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);
const FORMATS: ReadonlySet<string> = new Set(["ndjson", "json"]);

/** W3C trace context and baggage. */
const CARRIED: readonly string[] = ["traceparent", "tracestate", "baggage"];

/** Characters of a service's name: it stands in every sentence about the sink. */
const NAME_LENGTH_MAX = 64;

const TIMEOUT_MS = 30_000;
const BATCH_MESSAGES = 100;
const BATCH_BYTES = 1_048_576;
const BATCH_MESSAGES_MAX = 100_000;
const BATCH_BYTES_MAX = 1_073_741_824;

export function readHttpSinkOptions(options: HttpSinkOptions): HttpSinkSettings {
  requireKnownKeys("httpSink", options, KNOWN);
  const { method = "POST", headers = {}, idempotencyHeader = "idempotency-key" } = options;
  const { batch, carry = CARRIED, request = {}, tls, observers } = options;
  requireKnownKeys("request", request, KNOWN_OF_REQUEST);
  const { timeoutMs = TIMEOUT_MS } = request;
  requireDuration("request.timeoutMs", timeoutMs, 1);
  requireRates(request);
  if (!METHODS.has(method))
    throw new ConfigError(
      `method is ${JSON.stringify(method)}; it must be "POST", "PUT" or "PATCH"`,
    );
  const url = requireHttpUrl(options.url);
  return {
    url,
    service: options.name === undefined ? url.host : requireName(options.name),
    method,
    headers: lowerCased(headers),
    batch: batch === undefined ? undefined : readBatch(batch),
    carry: carry.map((name) => name.toLowerCase()),
    idempotencyHeader: idempotencyHeader === false ? undefined : idempotencyHeader.toLowerCase(),
    request: { ...request, timeoutMs },
    tls,
    observers,
  };
}

function requireName(name: string): string {
  if (typeof name === "string" && /\S/.test(name) && name.length <= NAME_LENGTH_MAX) return name;
  throw new ConfigError(
    `name is ${JSON.stringify(name)}; use a text of 1 to ${NAME_LENGTH_MAX} characters, such as "payments"`,
  );
}

function readBatch(batch: HttpBatchOptions): HttpBatchSettings {
  requireKnownKeys("batch", batch, KNOWN_OF_BATCH);
  const { format = "ndjson", messagesMax = BATCH_MESSAGES, bytesMax = BATCH_BYTES } = batch;
  if (!FORMATS.has(format))
    throw new ConfigError(
      `batch.format is ${JSON.stringify(format)}; it must be "ndjson" or "json"`,
    );
  requireWhole("batch.messagesMax", messagesMax, 1, BATCH_MESSAGES_MAX);
  requireWhole("batch.bytesMax", bytesMax, 1, BATCH_BYTES_MAX);
  return { format, messagesMax, bytesMax };
}

/** A mistake here would fail every message; the gate finds it only when the sink opens or sends. */
function requireRates({ rate, rates, cost }: HttpRequestOptions): void {
  if (rate !== undefined && rates !== undefined)
    throw new ConfigError(
      "request.rate and rates are both set; put the rate among the rates, with a name",
    );
  if (cost === undefined || typeof cost === "function") return;
  const unknown = Object.keys(cost).find((name) => !Object.hasOwn(rates ?? {}, name));
  if (unknown === undefined) return;
  const names = Object.keys(rates ?? {}).join(", ") || "none";
  throw new ConfigError(`request.cost names the rate "${unknown}"; request.rates has ${names}`);
}

function requireHttpUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // Not shown: it may be a password.
  if (parsed !== undefined && (parsed.username !== "" || parsed.password !== ""))
    throw new ConfigError(
      "url has a login, which no request would send; use headers: { authorization: … }",
    );
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol)) return parsed;
  throw new ConfigError(
    `url is ${JSON.stringify(url)}; use an address such as "http://localhost:9000/orders"`,
  );
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
