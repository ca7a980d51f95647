/** Tells somebody outside. What they throw is theirs: the broker goes on. */
export function unharmedBy<T>(observer: (news: T) => void): (news: T) => void {
  return (news) => {
    try {
      const told: unknown = observer(news);
      // It may be an async function, whatever its type says.
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // Nobody is left to tell.
    }
  };
}
