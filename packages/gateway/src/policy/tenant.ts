/** Kept for Pulsar's tools: roles of a tenant are not enforced, and there is one cluster. */
export interface Tenant {
  readonly adminRoles: readonly string[];
  readonly allowedClusters: readonly string[];
}
