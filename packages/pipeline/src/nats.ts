/** JetStream streams as source and sink; needs `@nats-io/transport-node` and `@nats-io/jetstream`. */
export { natsSource } from "./connector/nats/nats-source.ts";
export type { NatsSourceOptions } from "./connector/nats/nats-source.ts";
export { natsSink } from "./connector/nats/nats-sink.ts";
export type { NatsSinkOptions } from "./connector/nats/nats-sink.ts";
export type { NatsConnectionOptions } from "./connector/nats/nats-connection.ts";
