import { ConfigError } from "@sluice/core";
import { partitionOfKey } from "../message/key-hash.ts";
import type { KeyHash } from "../message/key-hash.ts";
import { keyText } from "./send/outgoing-message.ts";
import type { OutgoingMessage } from "./send/outgoing-message.ts";
import type { Route } from "./producer-options.ts";

export interface RouterOptions {
  readonly route: Route | undefined;
  readonly keyHash: KeyHash;
  /** First partition of the round robin; random, so that short-lived producers do not all use the first. */
  readonly startAt: number;
}

/** What a partition is doing, for the round robin. */
export type PartitionState = "gathering" | "full" | "free" | "throttled";

/** The partitions of a topic, as the router sees them. */
export interface RoutedPartitions {
  readonly count: number;
  stateOf(partition: number): PartitionState;
  /** Of a throttled partition. */
  pauseLeftMs(partition: number): number;
}

/**
 * Chooses a partition: by the user's function, else by key, else by round robin. The round robin stays
 * with a partition while that one collects a batch, and skips partitions that are throttled or whose
 * room is full.
 */
export class Router {
  readonly #options: RouterOptions;
  #turn: number;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#turn = options.startAt;
  }

  choose(message: OutgoingMessage, partitions: RoutedPartitions): number {
    const { route, keyHash } = this.#options;
    const { count } = partitions;
    if (route !== undefined) return checked(route(message, count), count);
    if (message.key !== undefined) return partitionOfKey(keyText(message.key), count, keyHash);
    return this.#nextInTurn(partitions);
  }

  #nextInTurn(partitions: RoutedPartitions): number {
    const { count } = partitions;
    const current = this.#turn % count;
    if (partitions.stateOf(current) === "gathering") return current;
    let full: number | undefined;
    for (let step = 1; step <= count; step++) {
      const next = (current + step) % count;
      const state = partitions.stateOf(next);
      if (state === "full") full ??= next;
      if (state === "full" || state === "throttled") continue;
      this.#turn = next;
      return next;
    }
    // A message waits for room before it waits for a pause: a full partition is being served.
    this.#turn = full ?? firstToEnd(partitions);
    return this.#turn;
  }
}

/** The partition whose pause ends first. */
function firstToEnd(partitions: RoutedPartitions): number {
  let first = 0;
  for (let partition = 1; partition < partitions.count; partition++)
    if (partitions.pauseLeftMs(partition) < partitions.pauseLeftMs(first)) first = partition;
  return first;
}

function checked(partition: number, partitions: number): number {
  if (Number.isInteger(partition) && partition >= 0 && partition < partitions) return partition;
  throw new ConfigError(
    `partitions.route returned ${String(partition)}; return a whole number from 0 to ${partitions - 1}`,
  );
}
