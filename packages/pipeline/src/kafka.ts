/** Kafka topics as source and sink; needs the package `kafkajs`. */
export { kafkaSource } from "./connector/kafka/kafka-source.ts";
export type { KafkaSourceOptions } from "./connector/kafka/kafka-source.ts";
export { kafkaSink } from "./connector/kafka/kafka-sink.ts";
export type { KafkaSinkOptions } from "./connector/kafka/kafka-sink.ts";
export type { KafkaConnectionOptions } from "./connector/kafka/kafka-connection.ts";
