import { SluiceError } from "@sluice/core";

export interface StoreErrorOptions extends ErrorOptions {
  /** Default: `true`. */
  readonly canHeal?: boolean;
}

/**
 * A call to the store failed, came too late or was answered with something unexpected. Whether the
 * store executed the call is unknown.
 *
 * @example
 * try {
 *   await store.sync(request);
 * } catch (error) {
 *   if (error instanceof StoreError && !error.canHeal) process.exit(1);
 * }
 */
export class StoreError extends SluiceError {
  override readonly name = "StoreError";
  readonly code = "STORE";
  /**
   * Whether the same call may succeed later with the same settings. True for an unreachable, slow,
   * loading or demoted server. False for a wrong password, a missing permission, an untrusted
   * certificate and a client library that is not installed: a person has to change something.
   */
  readonly canHeal: boolean;

  constructor(message: string, { canHeal = true, ...options }: StoreErrorOptions = {}) {
    super(message, options);
    this.canHeal = canHeal;
  }
}
