/** What aborts a signal of `eitherSignal`, for as long as somebody has that signal. */
const controllers = new WeakMap<AbortSignal, AbortController>();

/** Takes the listeners of signals that nobody has any more off their sources. */
const unused = new FinalizationRegistry<() => void>((release) => release());

/**
 * A signal that is aborted with the first of the two. Nothing of it stays with either of them once
 * it is out of use: `AbortSignal.any` leaves, on Node 20, something with a signal for each time that
 * it was used, and one that ends a whole program is used for every call.
 */
export function eitherSignal(one: AbortSignal, other: AbortSignal): AbortSignal {
  if (one.aborted) return one;
  if (other.aborted) return other;
  const controller = new AbortController();
  const { signal } = controller;
  controllers.set(signal, controller);
  follow(one, signal);
  follow(other, signal);
  return signal;
}

function follow(source: AbortSignal, signal: AbortSignal): void {
  const follower = new WeakRef(signal);
  const abort = (): void => {
    const left = follower.deref();
    if (left !== undefined) controllers.get(left)?.abort(source.reason);
  };
  source.addEventListener("abort", abort, { once: true });
  unused.register(signal, () => source.removeEventListener("abort", abort));
}
