import { Ewma } from "@sluice/core/internal";
import { createGate, ThrottledError } from "@sluice/egress";
import type { Gate, WhyWaiting } from "@sluice/egress";
import { Pool } from "undici";
import type { Message } from "../../message.ts";
import type { OpenContext } from "../open-context.ts";
import type { Sink, SinkConnector, SinkWaiting, WriteFailure, WriteResult } from "../sink.ts";
import { HttpAnswerError } from "./http-answer-error.ts";
import { batchedBodies, bytesOf, halves, singleBody } from "./request-body.ts";
import type { RequestBody } from "./request-body.ts";
import { RequestFields } from "./request-fields.ts";
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

/** Bytes of an answer's body that are read, so that its connection can be used again; of a longer one it is closed. */
const ANSWER_BYTES_MAX = 65_536;

/** Weight of the newest request in the mean time that requests take. */
const SERVICE_ALPHA = 0.1;

/** Statuses that may be about one message of several: malformed, too large, not to be processed. */
const OF_ONE_MESSAGE: ReadonlySet<number> = new Set([400, 413, 422]);

/** Statuses below 500 after which the same request may succeed: timeout, misdirected, too early, too many. */
const RETRIABLE: ReadonlySet<number> = new Set([408, 421, 425, 429]);

interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The beginning of an answer that is none of success. */
  readonly excerpt: string;
}

class HttpSink implements Sink {
  readonly #settings: HttpSinkSettings;
  readonly #context: OpenContext;
  readonly #pool: Pool;
  readonly #gate: Gate;
  readonly #fields: RequestFields;
  readonly #path: string;
  readonly #serviceMs = new Ewma(SERVICE_ALPHA);

  constructor(settings: HttpSinkSettings, context: OpenContext) {
    const { url, tls, request, observers = [], headers, carry, idempotencyHeader } = settings;
    const { timer, random, name } = context;
    this.#settings = settings;
    this.#context = context;
    this.#path = `${url.pathname}${url.search}`;
    this.#pool = new Pool(url.origin, {
      // The gate bounds the requests in flight, and with them the connections.
      connections: null,
      connect: { ...certificatesOf(tls), timeout: request.timeoutMs },
      // The gate gives an attempt up first; this ends the rest of an answer that nobody waits for.
      headersTimeout: 2 * request.timeoutMs,
      bodyTimeout: request.timeoutMs,
    });
    this.#gate = createGate({
      name: `${name} to ${url.host}`,
      concurrency: request.concurrency ?? "adaptive",
      attemptTimeoutMs: request.timeoutMs,
      maxWaiting: WAITING_MAX,
      observers,
      runtime: { timer, random },
      ...(request.rate === undefined ? {} : { rate: request.rate }),
      ...(request.busy === undefined ? {} : { busy: request.busy }),
      ...(request.retry === undefined ? {} : { retry: request.retry }),
    });
    this.#fields = new RequestFields({ headers, carry, idempotencyHeader, scope: name });
  }

  async write(
    messages: readonly Message[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<readonly WriteResult[] | void> {
    const results = Array.from<WriteResult>({ length: messages.length });
    await Promise.all(
      this.#bodiesOf(messages, results).map((body) => this.#send(body, messages, results, signal)),
    );
    return results.some((result) => result !== undefined) ? results : undefined;
  }

  why(): SinkWaiting | undefined {
    const why = this.#gate.why();
    if (why === undefined) return undefined;
    const { reason, leftMs } = why;
    const untilMs = leftMs === undefined ? undefined : this.#context.timer.now() + leftMs;
    return { reason, detail: this.#detailOf(why), untilMs };
  }

  async close(): Promise<void> {
    this.#gate.close();
    // Writes have ended; what is left are connections, and rests of answers that nobody needs.
    await this.#pool.destroy();
  }

  #bodiesOf(messages: readonly Message[], results: WriteResult[]): readonly RequestBody[] {
    const { batch } = this.#settings;
    if (batch === undefined)
      return messages.flatMap((message, place) => {
        try {
          return singleBody(message, place);
        } catch (error) {
          results[place] = { error: error as Error, isRetriable: false };
          return [];
        }
      });
    const { bodies, unsendable } = batchedBodies(messages, batch);
    for (const { place, error } of unsendable) results[place] = { error, isRetriable: false };
    return bodies;
  }

  /** Sends a body. A service that refuses a batch for one of its messages gets it again in halves. */
  async #send(
    body: RequestBody,
    messages: readonly Message[],
    results: WriteResult[],
    signal: AbortSignal,
  ): Promise<void> {
    const failure = await this.#attempt(body, messages, signal);
    if (failure === undefined) return;
    const { error } = failure;
    const status = error instanceof HttpAnswerError ? error.status : undefined;
    if (body.places.length > 1 && status !== undefined && OF_ONE_MESSAGE.has(status)) {
      // One after the other: order is kept as far as the service keeps it.
      for (const half of halves(body)) await this.#send(half, messages, results, signal);
      return;
    }
    for (const place of body.places) results[place] = failure;
  }

  async #attempt(
    body: RequestBody,
    messages: readonly Message[],
    signal: AbortSignal,
  ): Promise<WriteFailure | undefined> {
    const sent = body.places.map((place) => messages[place] as Message);
    const headers = this.#fields.of(sent, body.contentType);
    const bytes = bytesOf(body);
    const { method, url } = this.#settings;
    try {
      const { status, excerpt } = await this.#gate.run(
        (ended) => this.#request(bytes, headers, ended),
        // A pipeline delivers at least once in any case.
        { signal, idempotent: true },
      );
      if (status >= 200 && status < 300) return undefined;
      const error = new HttpAnswerError(status, `${method} ${url.origin}${url.pathname}`, excerpt);
      const isRetriable = status >= 500 || RETRIABLE.has(status);
      return { error, isRetriable, ...(isRetriable ? this.#pause() : {}) };
    } catch (reason) {
      const error = reason instanceof Error ? reason : new Error(String(reason));
      if (error instanceof ThrottledError)
        return { error, isRetriable: true, retryAfterMs: error.retryAfterMs };
      return { error, isRetriable: true, ...this.#pause() };
    }
  }

  async #request(
    body: Buffer,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const { timer } = this.#context;
    const startedMs = timer.now();
    const { method } = this.#settings;
    const answer = await this.#pool.request({ method, path: this.#path, headers, body, signal });
    const { statusCode: status, headers: fields } = answer;
    this.#serviceMs.update(timer.now() - startedMs);
    if (status >= 200 && status < 300) {
      // The service has the message, whatever becomes of the rest of its answer.
      answer.body.dump({ limit: ANSWER_BYTES_MAX }).catch(() => undefined);
      return { status, headers: fields, excerpt: "" };
    }
    return { status, headers: fields, excerpt: await excerptOf(answer.body) };
  }

  /** What the service has asked for, as the gate has understood it. */
  #pause(): Pick<WriteFailure, "retryAfterMs"> {
    const { pausedForMs } = this.#gate;
    return pausedForMs > 0 ? { retryAfterMs: pausedForMs } : {};
  }

  #detailOf({ reason, leftMs, rate }: WhyWaiting): string {
    const { inFlight, limit = Infinity } = this.#gate;
    const { host } = this.#settings.url;
    const left = leftMs === undefined ? "" : `, ${Math.ceil(leftMs)} ms left`;
    const meanMs = this.#serviceMs.mean;
    switch (reason) {
      case "concurrency": {
        const each = meanMs === undefined ? "" : `, each takes ${Math.round(meanMs)} ms`;
        return `${inFlight} of ${limit} requests to ${host} in flight${each}`;
      }
      case "retry-after":
        return `${host} asked for a pause${left}`;
      case "peer-busy":
        return `${host} answers that it is busy${left}`;
      case "rate":
        return `the rate of requests to ${host}${rate === undefined ? "" : ` (${rate})`} is used up${left}`;
      default:
        return `requests to ${host} wait: ${reason}${left}`;
    }
  }
}

/** The beginning of a body; its end is not waited for beyond the bound. */
async function excerptOf(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes <= ANSWER_BYTES_MAX) pieces.push(piece);
      // Leaving the loop closes the connection.
      else break;
    }
  } catch {
    // The status is known, and says what matters.
  }
  return Buffer.concat(pieces).toString("utf8");
}

function certificatesOf(tls: HttpSinkSettings["tls"]): object {
  if (tls === undefined) return {};
  const { dangerouslyAllowAnyCertificate = false, ...certificates } = tls;
  return { ...certificates, rejectUnauthorized: !dangerouslyAllowAnyCertificate };
}
