import { ConfigError } from "@sluice/core";
import { requireFunction, shown } from "./check-options.ts";

/** Gets events of one kind. */
type Observer<E> = (event: E) => void;

/** Reads the option `observers`: one function, or a list of them. */
export function readObservers<E>(
  observers: Observer<E> | readonly Observer<E>[] = [],
): readonly Observer<E>[] {
  if (typeof observers === "function") return [observers];
  const given: unknown = observers;
  if (!Array.isArray(given))
    throw new ConfigError(`observers is ${shown(given)}; it must be a function or a list of them`);
  for (const observer of observers) requireFunction("one of observers", observer);
  return observers;
}

/** Passes an event to all observers. What an observer throws is lost: the call and the next observer go on. */
export function tellObservers<E>(observers: readonly Observer<E>[], event: E): void {
  for (const observer of observers) {
    try {
      const told: unknown = observer(event);
      // An observer may be an async function, though its type says otherwise.
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // The next observer and the call go on.
    }
  }
}
