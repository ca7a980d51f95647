/** Turns a thrown value into an Error whose message is a string. Untyped code throws anything, also objects whose getters throw. */
export function asError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(String(thrown));
    const message: unknown = thrown.message;
    return typeof message === "string" ? thrown : new Error(String(message), { cause: thrown });
  } catch {
    return new Error("what was thrown cannot be shown: to read it throws an error itself");
  }
}
