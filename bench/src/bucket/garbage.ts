/** Needs `--expose-gc`. */
export function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error("run me with --expose-gc");
  globalThis.gc();
}
