import type { GatePermit } from "../gate/permit/gate-permit.ts";
import { BodyHold } from "./body-hold.ts";

/** The property of a response or stream that holds its `BodyHold`: cheaper than a WeakMap. */
const HOLD = Symbol("hold");

function holdOf(subject: object): BodyHold | undefined {
  return (subject as { readonly [HOLD]?: BodyHold })[HOLD];
}

/** Prototypes that watch reads, by the prototypes that they extend. */
const watchers = new WeakMap<object, object>();

const READS = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const;

/**
 * Makes the end of a response's body the end of its permit, however it is read; false if there is
 * no body to wait for. The response stays the same object with the same body: it gets a prototype that extends
 * its own and whose methods also note when a read begins and ends, so nothing is copied.
 *
 * A body without a read for `restMs`, begun or not, gives up its permit if a call needs it. A body
 * that is piped counts as being read until the pipe ends. `Response` methods that other libraries
 * call on the prototype itself are not seen; such bodies count as not read.
 */
export function holdUntilBodyEnds(
  response: Response,
  permit: GatePermit,
  { restMs, isFresh }: BodyHolding,
): boolean {
  if (!hasBodyToCome(response, isFresh)) return false;
  watch(response, new BodyHold(permit, restMs), watchResponses);
  return true;
}

export interface BodyHolding {
  readonly restMs: number;
  /** The answer comes straight from the platform's `fetch`, so nothing has read its body. */
  readonly isFresh: boolean;
}

/** The parts of an answer that are read here; another `fetch` may answer with any object. */
interface AnswerLike {
  readonly body?: unknown;
  readonly bodyUsed?: unknown;
  readonly headers?: { get?(name: string): unknown };
}

/** An answer without a stream that can be watched counts as complete. */
function hasBodyToCome(answer: AnswerLike | undefined, isFresh: boolean): boolean {
  const { body, headers } = answer ?? {};
  if (typeof body !== "object" || body === null) return false;
  // `bodyUsed` costs undici 1.5 µs, a third of what a request through a gate costs.
  if (!isFresh && answer?.bodyUsed === true) return false;
  return Object.isExtensible(answer) && headers?.get?.("content-length") !== "0";
}

function watch(subject: object, hold: BodyHold, make: (base: object) => object): void {
  const base: unknown = Object.getPrototypeOf(subject);
  if (typeof base !== "object" || base === null || holdOf(subject) !== undefined) return;
  let watcher = watchers.get(base);
  if (watcher === undefined) {
    watcher = make(base);
    watchers.set(base, watcher);
  }
  // Not enumerable: it does not show when a response is printed or compared.
  Object.defineProperty(subject, HOLD, { value: hold });
  Object.setPrototypeOf(subject, watcher);
}

/** Ends the hold when `settled` settles; answers `settled`. */
function endWith<P extends Promise<unknown>>(hold: BodyHold | undefined, settled: P): P {
  settled.then(
    () => hold?.end("ok"),
    () => hold?.end("failed"),
  );
  return settled;
}

function watchResponses(base: object): object {
  const original = base as Response;
  const originalBody = Object.getOwnPropertyDescriptor(base, "body");
  const bodyOf = (response: Response): ReadableStream<Uint8Array> | null =>
    (originalBody?.get?.call(response) ?? null) as ReadableStream<Uint8Array> | null;
  const watcher: Record<string, PropertyDescriptor> = {};
  for (const name of READS) {
    const read = (base as Partial<Record<string, () => Promise<unknown>>>)[name];
    if (read === undefined) continue;
    watcher[name] = method(function (this: Response) {
      const hold = holdOf(this);
      // A second reader gets its error from the original method, and the first reader goes on. A body that
      // nothing has touched through the response is free: to ask the response itself costs 2 µs.
      if (hold?.isTouched === true && (this.bodyUsed || bodyOf(this)?.locked === true))
        return read.call(this);
      hold?.touch();
      hold?.read();
      return endWith(hold, read.call(this));
    });
  }
  watcher["clone"] = method(function (this: Response) {
    const copy = original.clone.call(this);
    const hold = holdOf(this);
    // The copy that is read to its end first has made the peer send everything.
    if (hold !== undefined) watch(copy, hold, watchResponses);
    return copy;
  });
  watcher["body"] = {
    configurable: true,
    enumerable: true,
    get(this: Response) {
      const body = bodyOf(this);
      const hold = holdOf(this);
      if (body !== null && hold !== undefined) watch(body, hold, watchStreams);
      hold?.touch();
      return body;
    },
  };
  return Object.create(base, watcher) as object;
}

/**
 * Every method calls the original first, or only the original if the stream may be locked by another reader: a
 * second attempt to read changes nothing for the first.
 */
function watchStreams(base: object): object {
  const original = base as ReadableStream<Uint8Array>;
  const iterate = method(function (this: ReadableStream, options?: Leaving) {
    const iterator = (original.values as GetValues).call(this, options);
    return watchIterator(iterator, holdOf(this), options?.preventCancel === true);
  });
  const watcher: Record<PropertyKey, PropertyDescriptor> = {
    getReader: method(function (this: ReadableStream, options?: unknown) {
      return watchReader((original.getReader as GetReader).call(this, options), holdOf(this));
    }),
    cancel: method(function (this: ReadableStream, reason?: unknown) {
      const hold = this.locked ? undefined : holdOf(this);
      return endWith(hold, original.cancel.call(this, reason));
    }),
    pipeTo: method(function (this: ReadableStream, to: WritableStream, options?: Leaving) {
      if (!canPipe(this, to)) return original.pipeTo.call(this, to, options);
      const hold = holdOf(this);
      hold?.read();
      const piped = original.pipeTo.call(this, to, options);
      if (options?.preventCancel !== true) return endWith(hold, piped);
      piped.then(
        () => hold?.end("ok"),
        () => hold?.rest(),
      );
      return piped;
    }),
    pipeThrough: method(function (this: ReadableStream, through: Through, options?: Leaving) {
      if (!canPipe(this, through.writable))
        return original.pipeThrough.call(this, through, options);
      // As the original does it, but by the pipeTo that watches.
      this.pipeTo(through.writable, options).catch(() => undefined);
      return through.readable;
    }),
    tee: method(function (this: ReadableStream) {
      const branches = original.tee.call(this);
      const hold = holdOf(this);
      // As with a clone: the first end of the two counts.
      if (hold !== undefined) for (const branch of branches) watch(branch, hold, watchStreams);
      return branches;
    }),
    values: iterate,
    [Symbol.asyncIterator]: iterate,
  };
  return Object.create(base, watcher) as object;
}

type GetReader = (this: object, options?: unknown) => AnyReader;
type GetValues = (this: object, options?: unknown) => AsyncIterator<unknown>;

interface AnyReader {
  readonly closed: Promise<unknown>;
  read(...how: unknown[]): Promise<unknown>;
  releaseLock(): void;
}

/** The option of a reader that leaves a stream before its end. */
interface Leaving {
  readonly preventCancel?: boolean;
}

interface Through {
  readonly readable: ReadableStream;
  readonly writable: WritableStream;
}

/** Whether a pipe would begin; if not, the original method throws the error. */
function canPipe(from: ReadableStream, to: { readonly locked?: unknown } | undefined): boolean {
  return !from.locked && to?.locked === false;
}

function watchReader(reader: AnyReader, hold: BodyHold | undefined): AnyReader {
  if (hold === undefined) return reader;
  const read = reader.read.bind(reader);
  const releaseLock = reader.releaseLock.bind(reader);
  let isReleased = false;
  reader.read = (...how) => {
    hold.read();
    const step = read(...how);
    const rest = (): void => hold.rest();
    step.then(rest, rest);
    return step;
  };
  reader.releaseLock = () => {
    releaseLock();
    isReleased = true;
  };
  reader.closed.then(
    () => hold.end("ok"),
    // Also when the lock is released, and then the body goes on.
    () => !isReleased && hold.end("failed"),
  );
  return reader;
}

function watchIterator(
  iterator: AsyncIterator<unknown>,
  hold: BodyHold | undefined,
  staysOpen: boolean,
): AsyncIterator<unknown> {
  if (hold === undefined) return iterator;
  const next = iterator.next.bind(iterator);
  const leave = iterator.return?.bind(iterator);
  iterator.next = () => {
    hold.read();
    const step = next();
    step.then(
      ({ done }) => (done === true ? hold.end("ok") : hold.rest()),
      () => hold.end("failed"),
    );
    return step;
  };
  if (leave !== undefined && !staysOpen) {
    iterator.return = (value?: unknown) => {
      hold.end("ok");
      return leave(value);
    };
  }
  return iterator;
}

function method(value: (this: never, ...args: never[]) => unknown): PropertyDescriptor {
  return { configurable: true, enumerable: true, writable: true, value };
}
