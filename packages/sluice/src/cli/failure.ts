import { ConfigError, SluiceError } from "@sluice/core";
import { FlowFileError } from "../flow/flow-file.ts";

/** Why a command has not done its work, as standard error tells it. */
export interface Failure {
  /** `USAGE`, the code of an error of Sluice, or the system's for a result that cannot be written, such as `ENOSPC`. */
  readonly code: string;
  readonly message: string;
  readonly exitCode: 1 | 2;
}

/** Undefined for a mistake of this program, whose stack is needed. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof SluiceError) {
    const { code, message } = error;
    const isWrong = error instanceof ConfigError || error instanceof FlowFileError;
    return { code, message, exitCode: isWrong ? 2 : 1 };
  }
  const { code = "", syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall !== "write") return undefined;
  return { code, message: `the result cannot be written: ${code}`, exitCode: 1 };
}

/** Wrong usage, by the lines that the parser of the command line wrote of it. */
export function usageFailure(lines: readonly string[]): Failure {
  const message = lines.join("").trimEnd();
  return { code: "USAGE", message, exitCode: 2 };
}

/** One line of JSON, or the message. */
export function failureText(failure: Failure, isJson: boolean): string {
  return isJson ? JSON.stringify({ error: failure }) : failure.message;
}
