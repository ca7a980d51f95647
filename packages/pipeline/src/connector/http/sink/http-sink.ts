import { ConfigError } from "@sluice/core";
import {
  addAbortListener,
  Alarms,
  durationText,
  Redaction,
  removeAbortListener,
} from "@sluice/core/internal";
import { createGate, ThrottledError } from "@sluice/egress";
import type { CallOptions, Gate, Settled, Verdict, WhyWaiting } from "@sluice/egress";
import { asError } from "../../../as-error.ts";
import type { Message } from "../../../message.ts";
import { UnsendableError } from "../../format.ts";
import type { OpenContext } from "../../open-context.ts";
import type {
  Sink,
  SinkConnector,
  SinkGate,
  SinkWaiting,
  WriteFailure,
  WriteOptions,
  WriteResult,
} from "../../sink.ts";
import { CallsInTurn } from "./calls-in-turn.ts";
import { HttpAnswerError } from "./http-answer-error.ts";
import { HttpConnections } from "./http-connections.ts";
import { HttpExchange, isSuccess } from "./http-exchange.ts";
import type { HttpAnswer } from "./http-exchange.ts";
import { HttpTimeoutError } from "./http-timeout-error.ts";
import { PlannedRequest } from "./planned-request.ts";
import { batchedBodies, bytesOf, halves } from "./request-body.ts";
import type { RequestBody } from "./request-body.ts";
import { RequestFields } from "./request-fields.ts";
import { sentSecrets } from "./sent-secrets.ts";
import { ServiceTime } from "./service-time.ts";
import { readHttpSinkOptions } from "./sink-options.ts";
import type { HttpSinkOptions, HttpSinkSettings } from "./sink-options.ts";

/**
 * Sends messages to a service, as fast as it takes them: requests go through a gate that finds how many may be
 * in flight and obeys `Retry-After`, 429 and 503.
 *
 * @example
 * httpSink({ url: "http://localhost:9000/orders", request: { concurrency: "adaptive" } })
 */
export function httpSink(options: HttpSinkOptions): SinkConnector {
  const settings = readHttpSinkOptions(options);
  return {
    kind: "http",
    open: (context) => Promise.resolve(new HttpSink(settings, context)),
  };
}

/** Calls in the gate's queue: as many as the pipeline has messages, which it bounds itself. */
const WAITING_MAX = 10_000_000;

/** Characters of an answer in which secrets are looked for; an error shows fewer. */
const EXCERPT_LOOKED_AT = 400;

/** Statuses that may be about one message of several: malformed, too large, not to be processed. */
const OF_ONE_MESSAGE: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Statuses below 500 after which the same request may succeed: timeout, misdirected, too early, too many. Those about the
 * login and the address too, which every message shares: an expired token must not lose all of them.
 */
const RETRIABLE: ReadonlySet<number> = new Set([401, 403, 404, 405, 407, 408, 421, 425, 429]);

/** A pipeline delivers at least once in any case, so a request may be repeated. */
const IDEMPOTENT: CallOptions = { idempotent: true };

const SERVED: Verdict = { outcome: "ok", retriable: "never" };

/** Fields by which an answer that is fine in itself can ask for a pause. */
const LIMIT_FIELDS = [
  "ratelimit",
  "ratelimit-remaining",
  "x-ratelimit-remaining",
  "x-rate-limit-remaining",
];

/** Codes of undici for a service that takes too long. */
const LATE_CODES: ReadonlySet<unknown> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** One call of `write`: the results of its messages, and the requests that are in flight for it. */
interface Writing {
  readonly messages: readonly Message[];
  /** `true` until there is one. */
  readonly results: (WriteResult | true)[];
  readonly exchanges: Set<HttpExchange>;
  readonly signal: AbortSignal;
  readonly onSent: WriteOptions["onSent"];
}

class HttpSink implements Sink {
  /** Only those of `carry`, and of a batch those that all messages agree on. */
  readonly carriesHeaders = false;
  readonly tellsSent = true;
  readonly #settings: HttpSinkSettings;
  readonly #context: OpenContext;
  readonly #connections: HttpConnections;
  readonly #gate: Gate;
  readonly #fields: RequestFields;
  readonly #path: string;
  readonly #redaction: Redaction;
  readonly #service: ServiceTime;
  /** Ends attempts that take too long; undici bounds the gaps of an answer, not the whole. */
  readonly #alarms: Alarms;
  /** Requests of running writes that have not come to the gate yet. */
  #notBegun = 0;
  /** The status of the last answer that refused a request. */
  #refusedStatus: number | undefined;

  constructor(settings: HttpSinkSettings, context: OpenContext) {
    const { url, service, tls, request, observers = [] } = settings;
    const { headers, carry, idempotencyHeader } = settings;
    const { timer, random, name } = context;
    this.#settings = settings;
    this.#context = context;
    this.#alarms = new Alarms(timer);
    this.#service = new ServiceTime(timer);
    this.#path = `${url.pathname}${url.search}`;
    this.#redaction = new Redaction(sentSecrets(settings));
    this.#connections = new HttpConnections(url.origin, {
      connect: { ...certificatesOf(tls), timeout: request.timeoutMs },
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
    });
    this.#gate = createGate({
      name: `${name} to ${service}`,
      concurrency: request.concurrency ?? "adaptive",
      classify: verdictOf,
      maxWaiting: WAITING_MAX,
      observers,
      runtime: { timer, random },
      ...(request.rate === undefined ? {} : { rate: request.rate }),
      ...(request.rates === undefined ? {} : { rates: request.rates }),
      ...(request.busy === undefined ? {} : { busy: request.busy }),
      ...(request.retry === undefined ? {} : { retry: request.retry }),
    });
    this.#fields = new RequestFields({ headers, carry, idempotencyHeader, scope: name });
  }

  async write(
    messages: readonly Message[],
    { signal, onSent }: WriteOptions,
  ): Promise<readonly WriteResult[] | void> {
    const writing: Writing = {
      messages,
      results: messages.map(() => true),
      exchanges: new Set(),
      signal,
      onSent,
    };
    await untilAborted(this.#sendAll(writing), signal, (because) => {
      for (const exchange of writing.exchanges) exchange.abort(because);
      for (const [place, result] of writing.results.entries())
        if (result === true) writing.results[place] = { error: because, isRetriable: true };
    });
    const results = writing.results as WriteResult[];
    return results.some((result) => result !== undefined) ? results : undefined;
  }

  why(): SinkWaiting | undefined {
    const why = this.#gate.why();
    if (why === undefined) return undefined;
    const { reason } = why;
    const leftMs = why.leftMs ?? this.#nextAnswerMs();
    const untilMs = leftMs === undefined ? undefined : this.#context.timer.now() + leftMs;
    return { reason, detail: this.#detailOf(why), untilMs };
  }

  gate(): SinkGate {
    const { inFlight, limit, busyLimit, pausedForMs } = this.#gate;
    const waiting = this.#gate.waiting + this.#notBegun;
    const { meanMs, bestMs } = this.#service;
    return {
      inFlight,
      limit,
      waiting,
      meanMs,
      bestMs,
      allowed: busyLimit,
      ...(pausedForMs > 0 && { pausedForMs }),
      refusedStatus: this.#refusedStatus,
      rate: this.#gate.why()?.rate,
    };
  }

  async close(): Promise<void> {
    this.#gate.close();
    // Writes have ended; what is left are connections, and rests of answers that nobody needs.
    await this.#connections.destroy();
  }

  #sendAll(writing: Writing): Promise<void> {
    const { messages, results } = writing;
    const { batch } = this.#settings;
    if (batch === undefined)
      return this.#inTurn(messages.length, (place, turns) => this.#sendOne(place, writing, turns));
    const { bodies, unsendable } = batchedBodies(messages, batch);
    for (const { place, error } of unsendable) results[place] = { error, isRetriable: false };
    return this.#inTurn(bodies.length, (index, turns) =>
      this.#send(bodies[index] as RequestBody, writing, turns),
    );
  }

  /** Sends requests in their order. Resolves when all have ended. */
  #inTurn(
    count: number,
    send: (index: number, turns: CallsInTurn) => Promise<void>,
  ): Promise<void> {
    if (count === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let left = count;
      const onEnd = (): void => {
        if (--left === 0) resolve();
      };
      const turns = new CallsInTurn(count, (index) => {
        this.#notBegun--;
        send(index, turns).then(onEnd, reject);
      });
      this.#notBegun += count;
      turns.run();
    });
  }

  async #sendOne(place: number, writing: Writing, turns: CallsInTurn): Promise<void> {
    const { messages, results } = writing;
    const planned = new PlannedRequest([messages[place] as Message], undefined, turns);
    const failure = await this.#attempt(planned, writing);
    if (results[place] === true) results[place] = failure;
  }

  /** Sends a batch. A service that refuses it for one of its messages gets it again in halves. */
  async #send(body: RequestBody, writing: Writing, turns?: CallsInTurn): Promise<void> {
    const { messages, results } = writing;
    const { places } = body;
    const planned = new PlannedRequest(
      places.map((place) => messages[place] as Message),
      body,
      turns,
    );
    planned.isSent = turns === undefined;
    const failure = await this.#attempt(planned, writing);
    if (failure !== undefined && places.length > 1) {
      const { error } = failure;
      if (error instanceof HttpAnswerError && OF_ONE_MESSAGE.has(error.status)) {
        // One after the other: order is kept as far as the service keeps it.
        for (const half of halves(body)) await this.#send(half, writing);
        return;
      }
    }
    for (const place of places) if (results[place] === true) results[place] = failure;
  }

  /** The request is made when the gate admits it, so that no more bodies are in memory than are in flight. */
  async #attempt(planned: PlannedRequest, writing: Writing): Promise<WriteFailure | undefined> {
    const work = (): Promise<HttpAnswer> => this.#exchange(planned, writing);
    let options: CallOptions | undefined;
    try {
      options = this.#optionsOf(planned);
    } catch (thrown) {
      planned.onStarted();
      return { error: asError(thrown), isRetriable: false };
    }
    try {
      // Without options a call takes the shortest way through the gate.
      const { status, excerpt } = await (options === undefined
        ? this.#gate.run(work)
        : this.#gate.run(work, options));
      return isSuccess(status) ? undefined : this.#refused(status, excerpt);
    } catch (reason) {
      planned.onStarted();
      if (reason instanceof UnsendableError || reason instanceof ConfigError)
        return { error: reason, isRetriable: false };
      if (reason instanceof ThrottledError)
        return { error: reason, isRetriable: true, retryAfterMs: reason.retryAfterMs };
      return { error: this.#errorOf(reason), isRetriable: true, ...this.#pause() };
    }
  }

  #optionsOf({ messages }: PlannedRequest): CallOptions | undefined {
    const { retry, cost } = this.#settings.request;
    if (cost === undefined) return retry === undefined ? undefined : IDEMPOTENT;
    const own = typeof cost === "function" ? cost(messages) : cost;
    return retry === undefined ? { cost: own } : { ...IDEMPOTENT, cost: own };
  }

  #exchange(planned: PlannedRequest, writing: Writing): Promise<HttpAnswer> {
    const { exchanges, signal, onSent } = writing;
    planned.onStarted();
    // The call may have waited in the gate while the write was given up.
    signal.throwIfAborted();
    const { timer } = this.#context;
    const { messages } = planned;
    const body = planned.body();
    const startedMs = timer.now();
    const client = this.#connections.take();
    const dueMs = startedMs + this.#settings.request.timeoutMs;
    const exchange = new HttpExchange(dueMs, {
      onSent: () => {
        onSent?.(messages.length, { isAgain: planned.isSent });
        planned.isSent = true;
      },
      onOver: (ended) => {
        this.#alarms.clear(ended);
        exchanges.delete(ended);
        this.#connections.giveBack(client);
        // A refusal takes less time, and no connection at all the least: neither is the best to compare with.
        if (ended.isServed) this.#service.record(timer.now() - startedMs);
      },
    });
    exchanges.add(exchange);
    this.#alarms.set(exchange, startedMs);
    client.dispatch(
      {
        method: this.#settings.method,
        path: this.#path,
        headers: this.#fields.of(messages, body.contentType),
        body: bytesOf(body),
      },
      exchange,
    );
    return exchange.answered;
  }

  #refused(status: number, excerpt: string): WriteFailure {
    this.#refusedStatus = status;
    const { method, url } = this.#settings;
    const shown = this.#redaction.apply(excerpt.slice(0, EXCERPT_LOOKED_AT));
    const error = new HttpAnswerError(status, `${method} ${url.origin}${url.pathname}`, shown);
    const isRetriable = status >= 500 || RETRIABLE.has(status);
    return { error, isRetriable, ...(isRetriable ? this.#pause() : {}) };
  }

  #errorOf(reason: unknown): Error {
    const { service, request } = this.#settings;
    const error = asError(reason);
    return LATE_CODES.has(Reflect.get(error, "code"))
      ? new HttpTimeoutError(service, request.timeoutMs, { cause: error })
      : error;
  }

  /** What the service has asked for, as the gate has understood it. */
  #pause(): Pick<WriteFailure, "retryAfterMs"> {
    const { pausedForMs } = this.#gate;
    return pausedForMs > 0 ? { retryAfterMs: pausedForMs } : {};
  }

  /** `mean ÷ inFlight`: answers are spread over the time that one request takes. */
  #nextAnswerMs(): number | undefined {
    const { meanMs } = this.#service;
    return meanMs === undefined
      ? undefined
      : Math.max(1, meanMs / Math.max(1, this.#gate.inFlight));
  }

  #detailOf({ reason, leftMs, rate }: WhyWaiting): string {
    const { inFlight, limit = Infinity } = this.#gate;
    const { service } = this.#settings;
    const left = leftMs === undefined ? "" : `, ${durationText(leftMs)} left`;
    if (reason === "concurrency") {
      const each = this.#service.describe();
      return `${inFlight} of ${limit} requests to ${service} are in flight${each === "" ? "" : ` and each takes ${each}`}`;
    }
    if (reason === "retry-after") return `${service} asked for a pause${left}`;
    if (reason === "peer-busy") return `${service} answers that it is busy${left}`;
    if (reason === "rate")
      return `the rate of requests to ${service}${rate === undefined ? "" : ` (${rate})`} is used up${left}`;
    return `requests to ${service} wait: ${reason}${left}`;
  }
}

/** Most answers are fine and name no limit; the gate judges all others. */
function verdictOf(settled: Settled): Verdict | undefined {
  if (!("value" in settled)) return undefined;
  const { status, headers } = settled.value as HttpAnswer;
  if (!isSuccess(status)) return undefined;
  for (const name of LIMIT_FIELDS) if (headers[name] !== undefined) return undefined;
  return SERVED;
}

/** Waits for `done`, or until the signal aborts and `onAborted` was called. */
function untilAborted(
  done: Promise<unknown>,
  signal: AbortSignal,
  onAborted: (because: Error) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const listener = {
      handleEvent: (): void => {
        const reason: unknown = signal.reason;
        onAborted(asError(reason));
        resolve();
      },
    };
    if (signal.aborted) listener.handleEvent();
    else addAbortListener(signal, listener);
    done.finally(() => removeAbortListener(signal, listener)).then(() => resolve(), reject);
  });
}

function certificatesOf(tls: HttpSinkSettings["tls"]): object {
  if (tls === undefined) return {};
  const { dangerouslyAllowAnyCertificate = false, ...certificates } = tls;
  return { ...certificates, rejectUnauthorized: !dangerouslyAllowAnyCertificate };
}
