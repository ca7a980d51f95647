/** A value as the file has it, cut to 40 characters, without control characters. */
export function show(value: unknown): string {
  if (value === undefined) return "missing";
  const shown = typeof value === "number" ? String(value) : JSON.stringify(value);
  const cut = shown.length > 40 ? `${shown.slice(0, 37)}...` : shown;
  return cut.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
}
