/** `1 client`, `4 clients`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** With one decimal, rounded down below 100 %: what is not complete never reads as complete. */
export function percent(ratio: number): string {
  const tenths = ratio < 1 ? Math.floor(1000 * ratio) : Math.round(1000 * ratio);
  return `${(tenths / 10).toFixed(1)} %`;
}
