import { ConfigError } from "@sluice/core";
import { partitionOfKey } from "../message/key-hash.ts";
import type { KeyHash } from "../message/key-hash.ts";
import { keyText } from "./outgoing-message.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";
import type { Route } from "./producer-options.ts";

export interface RouterOptions {
  readonly route: Route | undefined;
  readonly keyHash: KeyHash;
  /** Where the turn begins, so that many short-lived producers do not all begin with the first. */
  readonly startAt: number;
}

/**
 * Chooses a partition: by the user's function, else by key, else in turn. The turn stays with a
 * partition while that one gathers a batch, because batches of one would help nobody.
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
    isGathering: (partition: number) => boolean,
  ): number {
    const { route, keyHash } = this.#options;
    if (route !== undefined) return checked(route(message, partitions), partitions);
    if (message.key !== undefined) return partitionOfKey(keyText(message.key), partitions, keyHash);
    const current = this.#turn % partitions;
    if (isGathering(current)) return current;
    this.#turn = (current + 1) % partitions;
    return this.#turn;
  }
}

function checked(partition: number, partitions: number): number {
  if (Number.isInteger(partition) && partition >= 0 && partition < partitions) return partition;
  throw new ConfigError(
    `the route chose partition ${partition}; it must be from 0 to ${partitions - 1}`,
  );
}
