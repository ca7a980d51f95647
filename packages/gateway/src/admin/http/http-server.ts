import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Timer } from "@sluice/core";
import { cannotListen } from "../../server/socket/listener.ts";
import { refused } from "./answer.ts";
import type { Answer } from "./answer.ts";
import type { Guard } from "./guard.ts";
import { httpUrl } from "./http-address.ts";
import type { HttpAddress } from "./http-address.ts";
import { HttpError } from "./http-error.ts";
import type { HttpLimits } from "./http-limits.ts";
import { AdminRequest } from "./request.ts";
import type { Method, Route, Router } from "./router.ts";

export interface HttpServerParts {
  readonly router: Router;
  readonly guard: Guard;
  readonly limits: HttpLimits;
  readonly timer: Timer;
  /** The answer to an error that a handler threw; undefined if that should not have happened. */
  readonly answerTo: (error: unknown) => Answer | undefined;
  /** A handler failed that should not have; its client was told 500. */
  readonly onError: (error: unknown) => void;
}

/** How long a closing server waits for answers that are being sent. */
const CLOSE_MS = 2_000;

/** Most often that connections are looked at for their time-outs; Node's own default is 30 s. */
const CHECK_MS = 1_000;

const METHODS: ReadonlyMap<string, Method> = new Map([
  ["GET", "GET"],
  // The same without a body, which Node leaves out.
  ["HEAD", "GET"],
  ["PUT", "PUT"],
  ["POST", "POST"],
  ["DELETE", "DELETE"],
]);

/** Bodies in anything else are refused. A web form of a foreign page cannot have these types. */
const BODY_TYPE = /^application\/(?:json|vnd\.partitioned-topic-metadata\+json)\s*(?:;|$)/i;

/** Answers without a body, whose length would be taken for that of another answer. */
const WITHOUT_LENGTH: ReadonlySet<number> = new Set([204, 304]);

/**
 * Of every answer: a page of another origin can neither show it, nor embed it, nor have it run as something else. What
 * was told to a caller with a token is kept by no cache.
 */
const ISOLATION: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

/** Serves routes over HTTP. */
export class HttpServer {
  readonly address: HttpAddress;
  readonly #server: Server;
  readonly #timer: Timer;
  readonly #exchanges: Exchanges;

  private constructor(address: HttpAddress, server: Server, timer: Timer, exchanges: Exchanges) {
    this.address = address;
    this.#server = server;
    this.#timer = timer;
    this.#exchanges = exchanges;
  }

  /** Rejects with a `ListenError` if the address cannot be had. */
  static async open(address: HttpAddress, parts: HttpServerParts): Promise<HttpServer> {
    const { limits, onError } = parts;
    const exchanges = new Exchanges(parts);
    const server = createServer(
      {
        maxHeaderSize: limits.headerBytesMax,
        headersTimeout: limits.headersMs,
        requestTimeout: limits.requestMs,
        keepAliveTimeout: limits.idleMs,
        connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
      },
      (request, response) => void exchanges.serve(request, response),
    );
    server.timeout = limits.idleMs;
    server.maxConnections = limits.connectionsMax;
    try {
      server.listen(address);
      await once(server, "listening");
    } catch (cause) {
      throw cannotListen(address, cause);
    }
    server.on("error", onError);
    const { port } = server.address() as AddressInfo;
    return new HttpServer({ ...address, port }, server, parts.timer, exchanges);
  }

  get url(): string {
    return httpUrl(this.address);
  }

  /** Takes no more requests, ends event streams, and gives the answers on their way a moment. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    const done = new AbortController();
    this.#server.close();
    this.#exchanges.close();
    this.#server.closeIdleConnections();
    const late = this.#timer.sleep(CLOSE_MS, done.signal).then(
      () => this.#server.closeAllConnections(),
      () => undefined,
    );
    await closed;
    done.abort();
    await late;
  }
}

/** The requests that are being answered. */
class Exchanges {
  readonly #parts: HttpServerParts;
  readonly #streams = new Set<() => void>();
  #open = 0;
  #isClosing = false;

  constructor(parts: HttpServerParts) {
    this.#parts = parts;
  }

  close(): void {
    this.#isClosing = true;
    for (const end of this.#streams) end();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that leaves early is no error of ours.
    response.on("error", () => undefined);
    this.#open++;
    try {
      this.#send(response, await this.#answerTo(request));
    } catch (error) {
      // E.g. a header that HTTP does not allow: an error of this request, not of the process.
      this.#parts.onError(error);
      response.destroy();
    } finally {
      this.#open--;
    }
  }

  async #answerTo(message: IncomingMessage): Promise<Answer> {
    const { limits, onError } = this.#parts;
    try {
      if (this.#isClosing) throw new HttpError(503, "the server is closing");
      if (this.#open > limits.requestsMax)
        throw new HttpError(503, `${limits.requestsMax} requests are being answered already`);
      return await this.#routed(message);
    } catch (error) {
      if (error instanceof HttpError) return refused(error.status, error.message);
      const answer = this.#parts.answerTo(error);
      if (answer !== undefined) return answer;
      onError(error);
      return refused(500, "the request failed; the log of the broker says why");
    }
  }

  async #routed(message: IncomingMessage): Promise<Answer> {
    const { router, guard, limits } = this.#parts;
    // With two Host headers, a proxy in front may have checked the other one.
    if ((message.headersDistinct["host"]?.length ?? 0) > 1)
      throw new HttpError(400, "a request has one Host header");
    const headers = headersOf(message);
    const foreign = guard.refusalOfPage(headers);
    if (foreign !== undefined) return foreign;
    const { path, query } = targetOf(message.url ?? "");
    const method = METHODS.get(message.method ?? "");
    const found = router.find(method ?? "GET", path);
    const allowed = "route" in found ? [found.route.method] : found.allowed;
    if (allowed.length === 0) throw new HttpError(404, notFound(path, router.pages));
    if (!("route" in found) || method === undefined) return wrongMethod(allowed);
    const caller = await guard.identify(found.route.access ?? "admin", headers);
    if ("status" in caller) return caller;
    const body = await bodyOf(message, limits.bodyBytesMax);
    requireBodyType(method, headers["content-type"], body);
    return this.#inTime(
      found.route,
      new AdminRequest({ params: found.params, query, headers, body, caller }),
    );
  }

  async #inTime({ handle }: Route, request: AdminRequest): Promise<Answer> {
    const { timer, limits } = this.#parts;
    const answered = new AbortController();
    const late = timer.sleep(limits.answerMs, answered.signal).then(() => {
      throw new HttpError(503, `there is no answer after ${limits.answerMs} ms`);
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([handle(request), late]);
    } finally {
      answered.abort();
    }
  }

  #send(response: ServerResponse, given: Answer): void {
    const { streamsMax } = this.#parts.limits;
    const {
      status,
      headers = {},
      body,
      stream,
    } = given.stream !== undefined && this.#streams.size >= streamsMax
      ? refused(503, `${streamsMax} event streams are open already; close one of them`)
      : given;
    if (response.destroyed) return;
    // The rest of a body that is not wanted would be taken for the next request.
    // A client beyond a bound must not keep one of the connections that others need.
    if (status === 413 || status === 503) response.shouldKeepAlive = false;
    if (stream === undefined) {
      const length = body === undefined ? 0 : Buffer.byteLength(body);
      const lengthOf = WITHOUT_LENGTH.has(status) ? {} : { "content-length": String(length) };
      response.writeHead(status, { ...ISOLATION, ...headers, ...lengthOf }).end(body);
      return;
    }
    response.writeHead(status, { ...ISOLATION, ...headers });
    if (response.req.method === "HEAD") {
      response.end();
      return;
    }
    response.flushHeaders();
    const stop = stream(response);
    const end = (): void => void response.end();
    this.#streams.add(end);
    response.on("close", () => {
      this.#streams.delete(end);
      stop();
    });
  }
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string | undefined>> {
  const single = Object.entries(headers).filter(
    (header): header is [string, string] => typeof header[1] === "string",
  );
  return Object.fromEntries(single);
}

function targetOf(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const [path = "", ...rest] = url.split("?");
  if (!path.startsWith("/")) throw new HttpError(400, "the target must be a path");
  return { path, query: new URLSearchParams(rest.join("?")) };
}

function wrongMethod(allowed: readonly Method[]): Answer {
  const allow = allowed.includes("GET") ? [...allowed, "HEAD"] : allowed;
  const methods = allow.join(", ");
  return refused(405, `this path takes ${methods}`, { allow: methods });
}

async function bodyOf(message: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Its connection must live on for the answer.
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) throw new HttpError(413, `a body has at most ${bytesMax} bytes`);
      chunks.push(chunk as Buffer);
    }
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    throw new HttpError(400, "the connection ended before the body did", { cause });
  }
  return Buffer.concat(chunks);
}

/** Go's client sends no type with an empty body, and `null` as the body of any request. */
function requireBodyType(method: Method, type: string | undefined, body: Buffer): void {
  if (method === "GET" || method === "DELETE" || body.length === 0) return;
  if (type !== undefined && BODY_TYPE.test(type)) return;
  throw new HttpError(
    415,
    "the content type of a body must be application/json; with curl, add -H 'content-type: application/json'",
  );
}

/** Pulsar's tools show the first part as it is; a person at a terminal is told what there is. */
function notFound(path: string, pages: readonly string[]): string {
  const missing = `there is no ${path.slice(0, 200)}`;
  return path.startsWith("/admin/") ? missing : `${missing}; there are ${pages.join(", ")}`;
}
