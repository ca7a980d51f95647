/**
 * An authentication method: the client's credentials for a broker. Write one for a method that this
 * package does not have, or use `tokenAuthentication`, `basicAuthentication`, `tlsAuthentication` or `oauth2Authentication`.
 */
export interface Authentication {
  /** Pulsar's name of the method, as the broker's `authenticationProviders` know it: "token", "basic", … */
  readonly methodName: string;
  /**
   * The credentials that CONNECT carries, text as UTF-8. Called for every connection; the signal is
   * aborted when the connection is given up. An error fails the connection and is its cause.
   */
  credentials(signal: AbortSignal): Credentials | Promise<Credentials>;
  /**
   * Fresh credentials after an AUTH_CHALLENGE, which carries `challenge`. Brokers send one when
   * credentials expire. `credentials` is called if this is left out.
   */
  refresh?(challenge: Uint8Array, signal: AbortSignal): Credentials | Promise<Credentials>;
}

export type Credentials = Uint8Array | string;

/** For brokers without authentication. */
export const NO_AUTHENTICATION: Authentication = {
  methodName: "none",
  credentials: () => "",
};
