import { SluiceError } from "@sluice/core";

/** Pulsar's numbers for what a consumer may find wrong with an entry. */
export const VALIDATION_ERROR = {
  uncompressedSizeCorruption: 0,
  decompressionError: 1,
  checksumMismatch: 2,
  batchDeSerializeError: 3,
} as const;

export type ValidationErrorName = keyof typeof VALIDATION_ERROR;

/** An entry that is not what its producer sent. Its consumer gives it back with the reason. */
export class CorruptEntryError extends SluiceError {
  override readonly name = "CorruptEntryError";
  readonly code = "PROTOCOL";
  readonly validationError: ValidationErrorName;

  constructor(validationError: ValidationErrorName, options?: ErrorOptions) {
    super(`an entry is corrupt: ${validationError}`, options);
    this.validationError = validationError;
  }
}
