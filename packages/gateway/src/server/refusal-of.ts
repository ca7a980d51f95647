import { RefusalError } from "../refusal/refusal-error.ts";
import type { Refusal } from "../session/refusal.ts";

/** What a client is told of an error. What is not meant for it stays here. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof RefusalError) return { error: error.error, message: error.message };
  return { error: "UnknownError", message: "the broker could not do this" };
}
