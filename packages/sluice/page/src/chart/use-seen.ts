import { useEffect, useRef } from "preact/hooks";
import type { RefObject } from "preact";

/** Whether an element is on the screen. `onSeen` is called when it comes there: a chart elsewhere is not drawn. */
export function useSeen(
  element: RefObject<Element | null>,
  onSeen: () => void,
): { readonly current: boolean } {
  const isSeen = useRef(false);
  const latest = useRef(onSeen);
  latest.current = onSeen;
  useEffect(() => {
    if (element.current === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      isSeen.current = entries.at(-1)?.isIntersecting === true;
      if (isSeen.current) latest.current();
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return isSeen;
}
