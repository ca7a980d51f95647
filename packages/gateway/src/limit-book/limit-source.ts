/** Where a limit comes from: the settings at the start, Pulsar's policies, or a change while it ran. */
export type LimitSource = "flow file" | "policy" | "live";
