import type { IncomingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import type { CallOptions } from "../gate/call-options.ts";
import type { GatePermit } from "../gate/gate-permit.ts";
import type { Gate } from "../gate/gate.ts";

type Controller = Dispatcher.DispatchController;

/** The fields of an answer, by which it is judged. */
interface Start {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Stands between undici and the handler of one request: passes everything on, and tells the gate
 * when the answer starts and ends. After the deadline the handler is told once and nothing more.
 */
export class ThrottledHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  #controller: Controller | undefined;
  #permit: GatePermit | undefined;
  #onStart: (start: Start) => void = notYet;
  #onError: (error: unknown) => void = notYet;
  #isDispatched = false;
  /** The answer is complete, or broken. */
  #isOver = false;
  /** The handler was told of a failure before undici knew of it. */
  #failure: Error | undefined;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  /** Dispatches when the gate allows. Answers what `dispatch` did; true while that is not known. */
  send(gate: Gate, options: CallOptions, dispatch: () => boolean): boolean {
    let wantsMore = true;
    const work = (signal?: AbortSignal): Promise<Start> =>
      new Promise((resolve, reject) => {
        this.#isDispatched = true;
        this.#onStart = resolve;
        this.#onError = reject;
        signal?.addEventListener("abort", () => this.#fail(asError(signal.reason)), { once: true });
        try {
          wantsMore = dispatch();
        } catch (error) {
          this.onResponseError(NOT_STARTED, asError(error));
        }
      });
    // Only a deadline needs a signal of its own: undici listens to that of the request by itself.
    const isTimed = options.deadlineMs !== undefined;
    const watched = isTimed
      ? (signal: AbortSignal): Promise<Start> => work(signal)
      : (): Promise<Start> => work();
    gate
      .runHooked(watched, options, { keep: (_start, permit) => this.#keep(permit) })
      .catch((error: unknown) => {
        // Once dispatched, undici tells the handler.
        if (!this.#isDispatched) this.#fail(asError(error));
      });
    return wantsMore;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#controller = controller;
    if (this.#failure === undefined) this.#handler.onRequestStart?.(controller, context);
    else controller.abort(this.#failure);
  }

  onRequestUpgrade(
    controller: Controller,
    statusCode: number,
    headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    // What comes now is no answer any more, and may go on for ever.
    this.#isOver = true;
    this.#onStart({ statusCode, headers });
    this.#handler.onRequestUpgrade?.(controller, statusCode, headers, socket);
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  onResponseStart(
    controller: Controller,
    statusCode: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    if (statusCode >= 200) this.#onStart({ statusCode, headers });
    this.#handler.onResponseStart?.(controller, statusCode, headers, statusMessage);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Controller, trailers: IncomingHttpHeaders): void {
    this.#end("ok");
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#onError(error);
    this.#end("failed");
    if (this.#failure === undefined) this.#handler.onResponseError?.(controller, error);
  }

  #keep(permit: GatePermit): boolean {
    this.#permit = permit;
    return !this.#isOver;
  }

  #end(outcome: "ok" | "failed"): void {
    this.#isOver = true;
    this.#permit?.end(outcome);
  }

  #fail(error: Error): void {
    // Under way: undici aborts, and tells the handler with that.
    if (this.#controller !== undefined) {
      this.#controller.abort(error);
      return;
    }
    this.#failure = error;
    this.#handler.onResponseError?.(NOT_STARTED, error);
  }
}

/** For a request that never started: there is nothing to control. */
const NOT_STARTED: Controller = {
  aborted: true,
  paused: false,
  reason: null,
  abort: notYet,
  pause: notYet,
  resume: notYet,
};

function notYet(): void {
  // Nothing to do it to.
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason), { cause: reason });
}
