/** Name of the one cluster that Pulsar's tools see, as Pulsar's own standalone broker calls it. */
export const CLUSTER = "standalone";
