import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigError } from "@sluice/core";
import { RateMeter } from "@sluice/core/internal";
import type { Message } from "../../../message.ts";
import type { OpenContext } from "../../open-context.ts";
import type { ReadOptions, Source, SourceConnector } from "../../source.ts";
import { Wait } from "../../wait.ts";
import { drainBody } from "./drain-body.ts";
import {
  description,
  done,
  messagesText,
  noRoom,
  problem,
  stopping,
  tooLate,
} from "./ingest-answers.ts";
import type { IngestAnswer, RoomFacts } from "./ingest-answers.ts";
import { IngestBuffer, IngestRequest } from "./ingest-buffer.ts";
import type { IngestOutcome } from "./ingest-buffer.ts";
import { urlOf } from "./listen-address.ts";
import type { ListenAddress } from "./listen-address.ts";
import { receivedBody } from "./received-body.ts";
import { hasToken, isOfPage } from "./request-access.ts";
import { requestMessages } from "./request-messages.ts";
import { begin, send } from "./send-answer.ts";
import { readHttpSourceOptions } from "./source-options.ts";
import type { HttpSourceOptions, HttpSourceSettings } from "./source-options.ts";
import { WorkTurns } from "./work-turns.ts";

/**
 * An endpoint to which messages are posted: one, NDJSON, or a JSON array. While the pipeline reads more slowly
 * than messages come, for a limit or for back-pressure, it answers 429 with `Retry-After` and RateLimit fields.
 *
 * @example
 * httpSource({ listen: "127.0.0.1:8080", path: "/orders" })
 */
export function httpSource<T = unknown>(options: HttpSourceOptions): SourceConnector<T> {
  const settings = readHttpSourceOptions(options);
  return {
    kind: "http",
    open: (context) => HttpSource.open(settings, context) as Promise<Source<T>>,
  };
}

/** Bytes of a request's line and fields. */
const FIELDS_BYTES_MAX = 16_384;
/** How long an idle connection is kept, ms. */
const KEEP_ALIVE_MS = 60_000;
/** Node looks for late requests this often, ms; a timeout is late by at most this. */
const CHECK_MS = 1_000;
/** Longest wait for answers to be written when the source closes, ms. */
const CLOSE_MS = 1_000;
/** Over which time the pace of reading is measured, ms: it decides `Retry-After`. */
const PACE_MS = 5_000;

class HttpSource implements Source {
  readonly #settings: HttpSourceSettings;
  readonly #context: OpenContext;
  readonly #server: Server;
  readonly #buffer: IngestBuffer;
  readonly #pace: RateMeter;
  /** Bodies that wait to be parsed; `bufferBytesMax` bounds them. */
  readonly #turns: WorkTurns;
  /** Unique to this opening: ids of messages begin with it. */
  readonly #prefix: string;
  #url = "";
  #sequence = 0;
  #bytes = 0;
  /** Requests that are received or wait for their answer. */
  #requests = 0;
  #onMessages: (() => void) | undefined;
  /** The signal of the last read: its abort says that the pipeline reads no more. */
  #reading: AbortSignal | undefined;
  #isClosed = false;

  private constructor(settings: HttpSourceSettings, context: OpenContext) {
    const { timer, random } = context;
    this.#settings = settings;
    this.#context = context;
    this.#buffer = new IngestBuffer(settings.bufferMax);
    this.#pace = new RateMeter({ clock: timer, windowMs: PACE_MS });
    this.#turns = new WorkTurns(timer);
    this.#prefix = [random.next(), random.next()]
      .map((part) =>
        Math.floor(part * 2 ** 32)
          .toString(16)
          .padStart(8, "0"),
      )
      .join("");
    this.#server = createServer(
      {
        maxHeaderSize: FIELDS_BYTES_MAX,
        requestTimeout: settings.timeoutMs,
        headersTimeout: Math.min(settings.timeoutMs, 10_000),
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
      },
      (request, response) => {
        this.#serve(request, response).catch((error: unknown) => this.#onMistake(error, response));
      },
    );
    this.#server.maxConnections = 2 * settings.requestsMax;
  }

  static async open(settings: HttpSourceSettings, context: OpenContext): Promise<HttpSource> {
    const source = new HttpSource(settings, context);
    const { host, port } = settings.address;
    try {
      const listening = once(source.#server, "listening", { signal: context.signal });
      source.#server.listen(port, host);
      await listening;
    } catch (error) {
      source.#server.close();
      throw listenError(error, settings.address);
    }
    const taken = source.#server.address() as AddressInfo;
    source.#url = urlOf({ host, port: taken.port }, settings.path);
    context.tell({ level: "info", text: `messages are taken at ${source.#url}` });
    return source;
  }

  async read(countMax: number, { signal, waitMs }: ReadOptions): Promise<readonly Message[]> {
    this.#reading = signal;
    if (this.#buffer.queued === 0 && !signal.aborted) await this.#arrival(signal, waitMs);
    const taken = signal.aborted ? [] : this.#buffer.take(countMax);
    this.#pace.record(taken.length);
    return taken;
  }

  ack(messages: readonly Message[]): Promise<void> {
    this.#buffer.ack(messages);
    return Promise.resolve();
  }

  nack(messages: readonly Message[]): Promise<void> {
    this.#buffer.putBack(messages);
    this.#onMessages?.();
    return Promise.resolve();
  }

  backlog(): Promise<number> {
    return Promise.resolve(this.#buffer.queued);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { queued } = this.#buffer;
    if (queued > 0 && this.#settings.respond === "accepted")
      this.#context.tell({
        level: "warning",
        text: `${queued} messages were accepted and not read: they are lost (respond: "accepted")`,
      });
    this.#buffer.close();
    this.#onMessages?.();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeIdleConnections();
    const wait = new Wait(this.#context.timer, CLOSE_MS, new AbortController().signal);
    wait.signal.addEventListener("abort", () => this.#server.closeAllConnections());
    await closed;
    wait.end();
  }

  /** Resolves when a message is there, or the wait is over. */
  async #arrival(signal: AbortSignal, waitMs: number): Promise<void> {
    const wait = new Wait(this.#context.timer, waitMs, signal);
    await new Promise<void>((resolve) => {
      this.#onMessages = resolve;
      wait.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#onMessages = undefined;
    wait.end();
  }

  /** The pipeline has stopped reading: what comes now would wait in vain. */
  get #isStopping(): boolean {
    return this.#isClosed || this.#reading?.aborted === true;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that leaves must not end the process.
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    const refusal = this.#refusalOf(request);
    if (refusal !== undefined) return this.#refuse(request, response, refusal);
    this.#requests++;
    response.once("close", () => this.#requests--);
    let bytes = 0;
    const release = (): void => {
      this.#bytes -= bytes;
      bytes = 0;
    };
    const body = await receivedBody(request, (more) => {
      bytes += more;
      this.#bytes += more;
      return bytes <= this.#settings.maxBodyBytes && this.#bytes <= this.#settings.bufferBytesMax;
    });
    if (body === undefined) {
      const isLarge = bytes > this.#settings.maxBodyBytes;
      release();
      return this.#refuse(request, response, isLarge ? this.#tooLarge() : this.#noBytes());
    }
    const contents = await this.#turns.run(() =>
      response.destroyed
        ? undefined
        : requestMessages(request.headers, Buffer.concat(body), this.#settings, () =>
            this.#newId(),
          ),
    );
    if (contents === undefined) return release();
    if ("status" in contents) {
      release();
      return send(response, contents);
    }
    this.#take(contents, response, release);
  }

  /** Answers at once; the connection stays while the client sends what is left of a bounded body. */
  async #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    answer: IngestAnswer,
  ): Promise<void> {
    if (!begin(response, answer)) return;
    const isWhole = await drainBody(request, this.#context.timer);
    response.end();
    if (!isWhole) request.socket.destroySoon();
  }

  /** What a request is answered without its body being read; undefined if it is to be read. */
  #refusalOf(request: IncomingMessage): IngestAnswer | undefined {
    const { path, token, isOpen, requestsMax, maxBodyBytes } = this.#settings;
    const { method = "", url = "" } = request;
    if (url.split("?", 1)[0] !== path)
      return problem(404, "Not found", `messages are taken at ${path}`);
    if (token !== undefined && !hasToken(request, token))
      return problem(401, "Unauthorized", "send the token as Authorization: Bearer …", {
        "WWW-Authenticate": "Bearer",
      });
    if (token === undefined && !isOpen && isOfPage(request))
      return problem(
        403,
        "Forbidden",
        "requests of web pages are not taken; use a token, or set allowAnonymous: true",
      );
    if (method === "GET" || method === "HEAD") return this.#description();
    if (method !== "POST")
      return problem(405, "Method not allowed", "messages are posted", {
        Allow: "GET, HEAD, POST",
      });
    if (this.#isStopping) return stopping();
    const { "content-encoding": encoding = "identity", "content-length": length } = request.headers;
    if (encoding !== "identity")
      return problem(
        415,
        "Unsupported encoding",
        `Content-Encoding is ${printable(encoding)}; send the body as it is`,
      );
    if (Number(length) > maxBodyBytes) return this.#tooLarge();
    // Before the body is read: a full endpoint costs as little as possible.
    if (this.#buffer.room === 0) return this.#noMessages(1);
    if (this.#requests >= requestsMax)
      return noRoom(1, this.#facts, `all ${requestsMax} requests at once are in use`);
    return undefined;
  }

  #noMessages(count: number): IngestAnswer {
    return noRoom(count, this.#facts, messagesText(count, this.#facts));
  }

  #noBytes(): IngestAnswer {
    const { bufferBytesMax } = this.#settings;
    return noRoom(1, this.#facts, `the bodies of waiting requests fill ${bufferBytesMax} bytes`);
  }

  #newId(): string {
    return `${this.#prefix}-${++this.#sequence}`;
  }

  /** Queues the messages of a request, or refuses it. */
  #take(contents: readonly Message[], response: ServerResponse, release: () => void): void {
    const { respond, timeoutMs } = this.#settings;
    const { timer } = this.#context;
    if (this.#isStopping) {
      release();
      send(response, stopping());
      return;
    }
    const ended = new AbortController();
    const onOver = (outcome: IngestOutcome): void => {
      release();
      ended.abort();
      send(response, answerOf(outcome, contents.length, timeoutMs));
    };
    const taken = new IngestRequest(contents, onOver);
    if (!this.#buffer.offer(taken)) {
      release();
      send(response, this.#noMessages(contents.length));
      return;
    }
    this.#onMessages?.();
    if (respond === "accepted") {
      send(response, done(202, contents.length));
      return;
    }
    response.once("close", () => this.#buffer.withdraw(taken));
    timer.sleep(timeoutMs, ended.signal).then(
      () => this.#buffer.withdraw(taken),
      () => undefined,
    );
  }

  get #facts(): RoomFacts {
    const { room } = this.#buffer;
    return { bufferMax: this.#settings.bufferMax, room, perSecond: this.#pace.perSecond() };
  }

  #tooLarge(): IngestAnswer {
    const { maxBodyBytes } = this.#settings;
    return problem(413, "Too large", `a body has at most ${maxBodyBytes} bytes (maxBodyBytes)`, {
      Connection: "close",
    });
  }

  #description(): IngestAnswer {
    const { path, respond, format, maxBodyBytes, bufferMax } = this.#settings;
    return description({
      is: `the source of ${this.#context.name}, an ingest endpoint of Sluice`,
      post: `one message, application/x-ndjson, or a JSON array, to ${path}`,
      format,
      respond,
      maxBodyBytes,
      bufferMax,
      room: this.#buffer.room,
      readPerSecond: Math.round(this.#pace.perSecond()),
    });
  }

  #onMistake(error: unknown, response: ServerResponse): void {
    const text = `a request failed that should not have: ${String(error)}`;
    this.#context.tell({ level: "error", text });
    send(response, problem(500, "Internal error", "see the log of the pipeline"));
  }
}

function answerOf(outcome: IngestOutcome, messages: number, timeoutMs: number): IngestAnswer {
  if (outcome === "acknowledged") return done(200, messages);
  return outcome === "closed" ? stopping() : tooLate(timeoutMs);
}

/** The port is taken, or may not be used. */
function listenError(error: unknown, { host, port }: ListenAddress): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL") return error;
  return new ConfigError(
    `listen is ${host}:${port}, which cannot be used (${code}); use another port, or 0 for a free one`,
    undefined,
    { cause: error },
  );
}

function printable(text: string): string {
  return JSON.stringify(text.slice(0, 50));
}
