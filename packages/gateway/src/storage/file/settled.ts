/** Does something at once, and tells of it as if it had taken time. */
export function settled<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
