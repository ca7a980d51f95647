import { SluiceError } from "@sluice/core";

/** Pulsar's `CommandAck.ValidationError`. */
export const VALIDATION_ERROR = {
  uncompressedSizeCorruption: 0,
  decompressionError: 1,
  checksumMismatch: 2,
  batchDeSerializeError: 3,
} as const;

export type ValidationErrorName = keyof typeof VALIDATION_ERROR;

/** An entry is not what its producer sent. It is acknowledged with the validation error. */
export class CorruptEntryError extends SluiceError {
  override readonly name = "CorruptEntryError";
  readonly code = "PROTOCOL";
  readonly validationError: ValidationErrorName;

  constructor(validationError: ValidationErrorName, options?: ErrorOptions) {
    super(`an entry is corrupt: ${validationError}`, options);
    this.validationError = validationError;
  }
}
