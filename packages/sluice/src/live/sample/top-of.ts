/**
 * The first `max` values in an order, as `toSorted().slice(0, max)` gives them, in one pass: of thousands of producers a
 * sample shows few, and sorting all of them twice a second would cost most of its time.
 */
export function topOf<T>(values: Iterable<T>, max: number, order: (a: T, b: T) => number): T[] {
  const top: T[] = [];
  for (const value of values) {
    if (top.length === max && order(value, top[max - 1] as T) >= 0) continue;
    let place = top.length;
    while (place > 0 && order(value, top[place - 1] as T) < 0) place--;
    top.splice(place, 0, value);
    if (top.length > max) top.pop();
  }
  return top;
}
