import type { CommandBodies, MessageIdData, Schema } from "@sluice/pulsar/wire";

/** A request that the broker answers, once. `consumer` is the key of a consumer of the session. */
export type Question =
  | {
      readonly about: "partitions";
      readonly requestId: bigint;
      readonly topic: string;
      /** The client wants an error if the topic does not exist. */
      readonly mustExist: boolean;
    }
  | {
      readonly about: "topics";
      readonly requestId: bigint;
      readonly namespace: string;
      readonly mode: number;
    }
  | { readonly about: "lastMessageId"; readonly requestId: bigint; readonly consumer: number }
  | {
      readonly about: "seek";
      readonly requestId: bigint;
      readonly consumer: number;
      readonly target: SeekTarget;
    }
  | { readonly about: "unsubscribe"; readonly requestId: bigint; readonly consumer: number }
  | { readonly about: "consumerStats"; readonly requestId: bigint; readonly consumer: number }
  | {
      readonly about: "schema";
      readonly requestId: bigint;
      readonly topic: string;
      /** The newest, if absent. */
      readonly version: Uint8Array | undefined;
    }
  | {
      readonly about: "newSchema";
      readonly requestId: bigint;
      readonly topic: string;
      readonly schema: Schema;
    };

export type SeekTarget =
  | { readonly messageId: MessageIdData }
  /** Milliseconds of the wall clock. */
  | { readonly publishedAtMs: number };

/** What the broker answers to a question. */
export type Answer =
  | { readonly about: "partitions"; readonly count: number }
  | { readonly about: "topics"; readonly names: readonly string[] }
  | {
      readonly about: "lastMessageId";
      readonly last: MessageIdData;
      /** All messages up to this one are acknowledged. */
      readonly markDelete: MessageIdData;
    }
  | { readonly about: "seek" | "unsubscribe" }
  | { readonly about: "consumerStats"; readonly stats: ConsumerStatsAnswer }
  | { readonly about: "schema"; readonly schema: Schema; readonly version: Uint8Array }
  | { readonly about: "newSchema"; readonly version: Uint8Array };

/** What CONSUMER_STATS answers, in the wire's own words. */
type ConsumerStatsAnswer = Omit<
  CommandBodies["consumerStatsResponse"],
  "requestId" | "errorCode" | "errorMessage"
>;
