import type { IncomingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import type { Sleeper } from "@sluice/core/internal";
import { errors } from "undici";
import type { Dispatcher } from "undici";

type Controller = Dispatcher.DispatchController;

/** What a service answered. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The beginning of the body, if the status is none of success. */
  readonly excerpt: string;
}

/** Callbacks of one exchange. */
interface ExchangeOwner {
  /** There is a connection, and the request is written to it. */
  onSent(): void;
  /** The connection is free, or was given up. */
  onOver(exchange: HttpExchange): void;
}

/** Bytes of an answer's body that are read, so that its connection can be used again; beyond it the connection is closed. */
const ANSWER_BYTES_MAX = 65_536;

/**
 * One request and its answer, as a handler of undici: without the stream that `request` makes of every body,
 * which costs as much as all the rest.
 *
 * Resolves at the end of the answer, because its connection is in use until then. Once the status is known, it
 * stands, whatever becomes of the body.
 */
export class HttpExchange implements Dispatcher.DispatchHandler, Sleeper {
  /** The end of the attempt's time, by the sink's timer. */
  readonly dueMs: number;
  place: number | undefined;
  readonly answered: Promise<HttpAnswer>;
  #resolve: (answer: HttpAnswer) => void = () => undefined;
  #reject: (reason: Error) => void = () => undefined;
  #controller: Controller | undefined;
  #abortedBecause: Error | undefined;
  #status: number | undefined;
  #headers: IncomingHttpHeaders = {};
  #pieces: Buffer[] | undefined;
  #bytes = 0;
  readonly #owner: ExchangeOwner;

  constructor(dueMs: number, owner: ExchangeOwner) {
    this.dueMs = dueMs;
    this.#owner = owner;
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether the service has taken the request. */
  get isServed(): boolean {
    return this.#status !== undefined && isSuccess(this.#status);
  }

  /** Gives the request up, waiting for a connection or running. */
  abort(because: Error): void {
    this.#abortedBecause = because;
    this.#controller?.abort(because);
    this.#reject(because);
  }

  /** The attempt has taken too long. The error is undici's own, which the gate judges as it does a silent service. */
  ring(): void {
    const late = new errors.HeadersTimeoutError("the attempt took too long");
    if (this.#status === undefined) this.abort(late);
    else this.#controller?.abort(late);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#abortedBecause === undefined) this.#owner.onSent();
    else controller.abort(this.#abortedBecause);
  }

  /** Undici leaves the socket to its handler, and frees the client for a new one. */
  onRequestUpgrade(
    _controller: Controller,
    _status: number,
    _headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    socket.destroy();
    this.#owner.onOver(this);
    this.#reject(new Error("the service answered with an upgrade, which was not asked for"));
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    // 1xx comes before the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (!isSuccess(status)) this.#pieces = [];
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > ANSWER_BYTES_MAX) controller.abort(new Error("the answer is too long"));
    else this.#pieces?.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#status !== undefined) this.#end();
    else {
      this.#owner.onOver(this);
      this.#reject(error);
    }
  }

  #end(): void {
    this.#owner.onOver(this);
    const pieces = this.#pieces;
    this.#resolve({
      status: this.#status ?? 0,
      headers: this.#headers,
      excerpt: pieces === undefined ? "" : Buffer.concat(pieces).toString("utf8"),
    });
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
