import { ConfigError } from "@sluice/core";
import { partitionOfKey } from "../message/key-hash.ts";
import type { KeyHash } from "../message/key-hash.ts";
import { keyText } from "./outgoing-message.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";
import type { Route } from "./producer-options.ts";

export interface RouterOptions {
  readonly route: Route | undefined;
  readonly keyHash: KeyHash;
  /** First partition of the round robin; random, so that short-lived producers do not all use the first. */
  readonly startAt: number;
}

/** What a partition is doing, for the round robin. */
export type PartitionState = "gathering" | "full" | "free";

/**
 * Chooses a partition: by the user's function, else by key, else by round robin. The round robin stays
 * with a partition while that one collects a batch, and skips partitions whose room is full.
 */
export class Router {
  readonly #options: RouterOptions;
  #turn: number;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#turn = options.startAt;
  }

  choose(
    message: OutgoingMessage,
    partitions: number,
    stateOf: (partition: number) => PartitionState,
  ): number {
    const { route, keyHash } = this.#options;
    if (route !== undefined) return checked(route(message, partitions), partitions);
    if (message.key !== undefined) return partitionOfKey(keyText(message.key), partitions, keyHash);
    return this.#nextInTurn(partitions, stateOf);
  }

  #nextInTurn(partitions: number, stateOf: (partition: number) => PartitionState): number {
    const current = this.#turn % partitions;
    if (stateOf(current) === "gathering") return current;
    for (let step = 1; step <= partitions; step++) {
      const next = (current + step) % partitions;
      if (stateOf(next) === "full") continue;
      this.#turn = next;
      return next;
    }
    // All are full: the message waits for its turn in the next one.
    this.#turn = (current + 1) % partitions;
    return this.#turn;
  }
}

function checked(partition: number, partitions: number): number {
  if (Number.isInteger(partition) && partition >= 0 && partition < partitions) return partition;
  throw new ConfigError(
    `partitions.route returned ${String(partition)}; return a whole number from 0 to ${partitions - 1}`,
  );
}
