import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

type Controller = Dispatcher.DispatchController;
type RawFields = Buffer[] | string[] | IncomingHttpHeaders | null;

/**
 * The controller of a request that undici does not know of yet: to abort it is to give it up, by
 * `signal`. Once undici has started the request, everything is passed on to its own controller.
 */
export class EarlyController implements Controller {
  readonly #givenUp = new AbortController();
  #started: Controller | undefined;
  #isPaused = false;

  /** Aborted when the handler of the request aborts it. */
  get signal(): AbortSignal {
    return this.#givenUp.signal;
  }

  get hasStarted(): boolean {
    return this.#started !== undefined;
  }

  get aborted(): boolean {
    return this.#givenUp.signal.aborted || this.#started?.aborted === true;
  }

  get reason(): Error | null {
    const given: unknown = this.#givenUp.signal.reason;
    return given instanceof Error ? given : (this.#started?.reason ?? null);
  }

  get paused(): boolean {
    return this.#started?.paused ?? this.#isPaused;
  }

  get rawHeaders(): RawFields {
    return this.#started?.rawHeaders ?? null;
  }

  get rawTrailers(): RawFields {
    return this.#started?.rawTrailers ?? null;
  }

  /** Undici has started it. After a failure of the connection it may do so again. */
  start(controller: Controller): void {
    this.#started = controller;
    if (this.#isPaused) controller.pause();
  }

  /** Aborts the request in undici, if undici has started it. */
  stop(error: Error): void {
    this.#started?.abort(error);
  }

  abort(reason: Error): void {
    this.#givenUp.abort(reason);
    // For requests that the gate has let go of, such as an upgraded connection.
    if (this.#started?.aborted === false) this.#started.abort(reason);
  }

  pause(): void {
    this.#isPaused = true;
    this.#started?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#started?.resume();
  }
}
