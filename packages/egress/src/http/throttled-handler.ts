import type { IncomingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import type { CallOptions } from "../gate/options/call-options.ts";
import type { GatePermit } from "../gate/permit/gate-permit.ts";
import type { Gate } from "../gate/gate.ts";
import { EarlyController } from "./early-controller.ts";
import { eitherSignal } from "./either-signal.ts";

type Controller = Dispatcher.DispatchController;

/** The fields of an answer, by which it is judged. */
interface Start {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Stands between undici and the handler of one request: passes everything on, and tells the gate
 * when the answer starts and ends. After the deadline the handler is told once and nothing more.
 *
 * The handler is told of the start of its request when that comes to the gate, so that it can give
 * it up in line as well: `fetch` has no other way to.
 */
export class ThrottledHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #controller = new EarlyController();
  /** What those on the way add when the request really starts is added to what the handler has. */
  readonly #context: object = {};
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
    const work = (signal: AbortSignal): Promise<Start> =>
      new Promise((resolve, reject) => {
        this.#isDispatched = true;
        this.#onStart = resolve;
        this.#onError = reject;
        signal.addEventListener("abort", () => this.#fail(asError(signal.reason)), { once: true });
        try {
          wantsMore = dispatch();
        } catch (error) {
          this.onResponseError(this.#controller, asError(error));
        }
      });
    try {
      this.#handler.onRequestStart?.(this.#controller, this.#context);
    } catch (error) {
      this.#controller.abort(asError(error));
    }
    const { signal: given } = options;
    const own = this.#controller.signal;
    const signal = given === undefined ? own : eitherSignal(own, given);
    gate
      .runHooked(work, { ...options, signal }, { keep: (_start, permit) => this.#keep(permit) })
      .catch((error: unknown) => {
        // Once dispatched, undici tells the handler.
        if (!this.#isDispatched) this.#fail(asError(error));
      });
    return wantsMore;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#controller.start(controller);
    Object.assign(this.#context, context);
    if (this.#failure !== undefined) controller.abort(this.#failure);
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
    if (this.#controller.hasStarted) {
      this.#controller.stop(error);
      return;
    }
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#handler.onResponseError?.(this.#controller, error);
  }
}

function notYet(): void {
  // Nothing to do it to.
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason), { cause: reason });
}
