/** There is one cluster, so that `allowedClusters` is kept for Pulsar's tools alone. */
export interface Tenant {
  /** May publish to and subscribe to every topic of the tenant. */
  readonly adminRoles: readonly string[];
  readonly allowedClusters: readonly string[];
}
