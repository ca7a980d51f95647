import { SluiceError } from "@sluice/core";

/** The store did not answer, not in time, or not sense. Whether it did what it was asked is not known. */
export class StoreError extends SluiceError {
  override readonly name = "StoreError";
  readonly code = "STORE";
}
