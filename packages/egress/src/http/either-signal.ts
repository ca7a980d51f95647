/** The controllers of the signals of `eitherSignal`, kept as long as the signals are in use. */
const controllers = new WeakMap<AbortSignal, AbortController>();

/** The signals that follow a source, one listener for all of them: many make Node warn of a leak. */
const followers = new WeakMap<AbortSignal, Set<WeakRef<AbortSignal>>>();

/** Removes signals that are out of use from the followers of their sources. */
const unused = new FinalizationRegistry<() => void>((forget) => forget());

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
  const all = followers.get(source) ?? lead(source);
  const follower = new WeakRef(signal);
  all.add(follower);
  unused.register(signal, () => all.delete(follower));
}

function lead(source: AbortSignal): Set<WeakRef<AbortSignal>> {
  const all = new Set<WeakRef<AbortSignal>>();
  followers.set(source, all);
  const abortAll = (): void => {
    for (const follower of all) {
      const signal = follower.deref();
      if (signal !== undefined) controllers.get(signal)?.abort(source.reason);
    }
    all.clear();
  };
  source.addEventListener("abort", abortAll, { once: true });
  return all;
}
