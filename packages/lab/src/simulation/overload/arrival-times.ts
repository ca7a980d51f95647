/**
 * When request n of a client is due, in seconds, for a fractional n: the time at which the sum of the rates
 * up to then is n. Infinity if the rates of the list come to less. Asked in rising order only.
 */
export function arrivalTimes(perSecond: number | readonly number[]): (n: number) => number {
  if (typeof perSecond === "number") return (n) => n / perSecond;
  let second = 0;
  let before = 0;
  return (n) => {
    while (second < perSecond.length && before + (perSecond[second] as number) <= n)
      before += perSecond[second++] as number;
    const rate = perSecond[second];
    return rate === undefined ? Infinity : second + (n - before) / rate;
  };
}
