/** What was thrown as an error whose message can be read. Code without types throws anything, also what throws when it is read. */
export function asError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(String(thrown));
    const message: unknown = thrown.message;
    return typeof message === "string" ? thrown : new Error(String(message), { cause: thrown });
  } catch {
    return new Error("what was thrown cannot be shown: to read it throws an error itself");
  }
}
