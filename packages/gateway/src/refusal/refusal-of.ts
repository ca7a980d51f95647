import { RefusalError } from "./refusal-error.ts";
import type { Refusal } from "./refusal.ts";

/** The error that a client gets. Details of an error that is no refusal stay in the broker. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof RefusalError) return { error: error.error, message: error.message };
  return { error: "UnknownError", message: "the broker could not do this" };
}
