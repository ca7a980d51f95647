/** A listener that cannot harm its caller: errors that it throws, or rejects with, are dropped. */
export function guarded<T>(listener: (event: T) => void): (event: T) => void {
  return (event) => {
    try {
      const result: unknown = listener(event);
      // An async function also fits the type.
      if (result instanceof Promise) result.catch(() => undefined);
    } catch {
      // The observer is the last place to report to.
    }
  };
}
