import type { GatePermit } from "../gate/gate-permit.ts";

/** Where a response or a stream keeps the permit that ends with its body: cheaper than a WeakMap. */
const PERMIT = Symbol("permit");

function permitOf(subject: object): GatePermit | undefined {
  return (subject as { readonly [PERMIT]?: GatePermit })[PERMIT];
}

/** Bodies that somebody began to read and then lost. */
const lost = new FinalizationRegistry<GatePermit>((permit) => permit.end("ignored"));

/** Prototypes that watch, by those that they stand before. */
const watchers = new WeakMap<object, object>();

const READS = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const;

/**
 * Makes the end of a response's body the end of its permit, however it is read; false if there is
 * no body to wait for. The response stays the same object with the same body: only its prototype is
 * stood before by one whose methods also look when reading begins and ends, so nothing is copied.
 *
 * A body that nobody begins to read is given up after `unreadMs` if its permit is needed; one that
 * was begun and lost ends when its stream is collected. `Response` methods that other libraries call
 * on the prototype itself are not seen; such bodies count as not begun.
 */
export function holdUntilBodyEnds(
  response: Response,
  permit: GatePermit,
  unreadMs: number,
): boolean {
  if (response.body === null || response.headers.get("content-length") === "0") return false;
  watch(response, permit, watchResponses);
  permit.loosen(unreadMs);
  return true;
}

function watch(subject: object, permit: GatePermit, make: (base: object) => object): void {
  const base: unknown = Object.getPrototypeOf(subject);
  if (typeof base !== "object" || base === null || permitOf(subject) !== undefined) return;
  let watcher = watchers.get(base);
  if (watcher === undefined) {
    watcher = make(base);
    watchers.set(base, watcher);
  }
  Object.defineProperty(subject, PERMIT, { value: permit });
  Object.setPrototypeOf(subject, watcher);
}

/** What ends as `settled` does, whichever way. */
function endWith<P extends Promise<unknown>>(permit: GatePermit | undefined, settled: P): P {
  settled.then(
    () => permit?.end("ok"),
    () => permit?.end("failed"),
  );
  return settled;
}

function watchResponses(base: object): object {
  const original = base as Response;
  const originalBody = Object.getOwnPropertyDescriptor(base, "body");
  const watcher: Record<string, PropertyDescriptor> = {};
  for (const name of READS) {
    const read = (base as Partial<Record<string, () => Promise<unknown>>>)[name];
    if (read === undefined) continue;
    watcher[name] = method(function (this: Response) {
      // Who comes second is told so, and the first goes on reading.
      if (this.bodyUsed) return read.call(this);
      const permit = permitOf(this);
      permit?.tighten();
      return endWith(permit, read.call(this));
    });
  }
  watcher["clone"] = method(function (this: Response) {
    const copy = original.clone.call(this);
    const permit = permitOf(this);
    // Whichever is read to its end first has made the peer send everything.
    if (permit !== undefined) watch(copy, permit, watchResponses);
    return copy;
  });
  watcher["body"] = {
    configurable: true,
    enumerable: true,
    get(this: Response) {
      const body = originalBody?.get?.call(this) as ReadableStream<Uint8Array> | null;
      const permit = permitOf(this);
      if (body !== null && permit !== undefined) watch(body, permit, watchStreams);
      return body;
    },
  };
  return Object.create(base, watcher) as object;
}

function watchStreams(base: object): object {
  const original = base as ReadableStream<Uint8Array>;
  const iterate = method(function (this: ReadableStream, options?: unknown) {
    return watchIterator((original.values as GetValues).call(this, options), begin(this));
  });
  const watcher: Record<PropertyKey, PropertyDescriptor> = {
    getReader: method(function (this: ReadableStream, options?: unknown) {
      const reader = (original.getReader as GetReader).call(this, options);
      const permit = begin(this);
      reader.closed.then(
        () => permit?.end("ok"),
        // Also when the lock is released, and then the body goes on.
        () => this.locked && permit?.end("failed"),
      );
      return reader;
    }),
    cancel: method(function (this: ReadableStream, reason?: unknown) {
      return endWith(begin(this), original.cancel.call(this, reason));
    }),
    pipeTo: method(function (this: ReadableStream, to: WritableStream, options?: object) {
      return endWith(begin(this), original.pipeTo.call(this, to, options));
    }),
    pipeThrough: method(function (this: ReadableStream, through: Through, options?: object) {
      // As the original does it, but by the pipeTo that watches.
      this.pipeTo(through.writable, options).catch(() => undefined);
      return through.readable;
    }),
    tee: method(function (this: ReadableStream) {
      const permit = begin(this);
      const branches = original.tee.call(this);
      // As with a clone: the first end of the two counts.
      if (permit !== undefined) for (const branch of branches) watch(branch, permit, watchStreams);
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
}

interface Through {
  readonly readable: ReadableStream;
  readonly writable: WritableStream;
}

/** Somebody reads: from now on the permit waits for the end, or for the stream to be lost. */
function begin(stream: ReadableStream): GatePermit | undefined {
  const permit = permitOf(stream);
  if (permit === undefined || permit.hasEnded) return undefined;
  permit.tighten();
  lost.register(stream, permit);
  return permit;
}

function watchIterator(
  iterator: AsyncIterator<unknown>,
  permit: GatePermit | undefined,
): AsyncIterator<unknown> {
  const next = iterator.next.bind(iterator);
  const giveUp = iterator.return?.bind(iterator);
  iterator.next = () => {
    const step = next();
    step.then(
      ({ done }) => done === true && permit?.end("ok"),
      () => permit?.end("failed"),
    );
    return step;
  };
  if (giveUp !== undefined) {
    iterator.return = (value?: unknown) => {
      permit?.end("ok");
      return giveUp(value);
    };
  }
  return iterator;
}

function method(value: (this: never, ...args: never[]) => unknown): PropertyDescriptor {
  return { configurable: true, enumerable: true, writable: true, value };
}
