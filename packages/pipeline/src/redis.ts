/** Streams of Redis and Valkey as source and sink; needs the package `ioredis`. */
export { redisStreamSource } from "./connector/redis/redis-stream-source.ts";
export type { RedisStreamSourceOptions } from "./connector/redis/redis-stream-source.ts";
export { redisStreamSink } from "./connector/redis/redis-stream-sink.ts";
export type { RedisStreamSinkOptions } from "./connector/redis/redis-stream-sink.ts";
export type { RedisConnectionOptions } from "./connector/redis/redis-options.ts";
