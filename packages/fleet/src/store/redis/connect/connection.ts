/**
 * One client object of a client library: a connection to one server, or to the nodes of a cluster.
 * Every supported library has an adapter that implements this.
 */
export interface RedisConnection {
  /** Settles once: connected and logged in, or the reason why not. */
  connect(): Promise<void>;
  /** False before `connect` has succeeded, and once the connection is lost: it does not come back. */
  readonly isReady: boolean;
  evalsha(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Drops the connection at once. Commands in flight reject. */
  close(): void;
}

/** Makes a connection that is not connected yet. */
export type OpenConnection = () => RedisConnection;
