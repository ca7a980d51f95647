/** A promise with its resolve and reject. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T>(): Deferred<T> {
  const settlers: Partial<Omit<Deferred<T>, "promise">> = {};
  const promise = new Promise<T>((resolve, reject: (error: unknown) => void) => {
    settlers.resolve = resolve;
    settlers.reject = reject;
  });
  return {
    promise,
    resolve: (value) => settlers.resolve?.(value),
    reject: (error) => settlers.reject?.(error),
  };
}
