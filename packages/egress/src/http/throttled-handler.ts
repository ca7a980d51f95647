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
 * Stands between undici and the handler of one request: passes all calls on, and reports the start and the end of
 * the answer to the gate. After the deadline the handler gets one error and nothing more.
 *
 * `onRequestStart` of the handler is called when the request comes to the gate, so that the handler can abort it
 * in the queue as well: `fetch` has no other way to.
 */
export class ThrottledHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #controller = new EarlyController();
  /** The context that the handler got early; what interceptors add at the real start is copied into it. */
  readonly #context: object = {};
  #permit: GatePermit | undefined;
  #onStart: (start: Start) => void = notYet;
  #onError: (error: unknown) => void = notYet;
  #isDispatched = false;
  /** The answer is complete, or broken. */
  #isOver = false;
  /** The error that the handler got before undici knew of the request. */
  #failure: Error | undefined;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  /** Dispatches when the gate admits the request. Answers what `dispatch` did; true while that is not known. */
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
        // Once dispatched, undici reports errors to the handler.
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
    // An upgraded connection is no answer any more, and may stay open for ever.
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
    // Under way: undici aborts, and its error reaches the handler.
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
  // The request is not dispatched yet.
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason), { cause: reason });
}
