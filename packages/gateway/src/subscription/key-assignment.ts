import { RefusalError } from "../refusal/refusal-error.ts";
import type { Consumer } from "./consumer.ts";

/** Hashes of keys go from 0 to 65,535, as in Pulsar. */
export const KEY_HASHES = 65_536;

/** Hashes from the first to the last, both included. */
export interface KeyRange {
  readonly start: number;
  readonly end: number;
}

interface Point {
  readonly hash: number;
  readonly consumer: Consumer;
}

/** Points of a consumer on the ring, as in Pulsar; more of them share the keys more evenly. */
const POINTS_PER_CONSUMER = 100;

/**
 * Which consumer of a Key_Shared subscription gets which keys: by consistent hashing, so that few
 * keys move when a consumer joins or leaves; or, if the consumers say so, by ranges of their own.
 */
export class KeyAssignment {
  readonly #hashOf: (text: string) => number;
  #consumers: readonly Consumer[] = [];
  /** Sorted by hash. */
  #ring: readonly Point[] = [];
  #joined = 0;

  /** `hashOf`: the hash of a text, from 0 to 65,535. */
  constructor(hashOf: (text: string) => number) {
    this.#hashOf = hashOf;
  }

  get consumers(): readonly Consumer[] {
    return this.#consumers;
  }

  /** Throws a `RefusalError` if its ranges overlap with another's, or others share the keys otherwise. */
  add(consumer: Consumer): void {
    const { keyRanges } = consumer;
    const [other] = this.#consumers;
    if (other !== undefined && (other.keyRanges === undefined) !== (keyRanges === undefined))
      throw new RefusalError("ConsumerBusy", "the subscription has another Key_Shared mode");
    if (keyRanges !== undefined) this.#requireFree(keyRanges);
    else this.#addPoints(consumer);
    this.#consumers = [...this.#consumers, consumer];
  }

  remove(consumer: Consumer): void {
    this.#consumers = this.#consumers.filter((other) => other !== consumer);
    this.#ring = this.#ring.filter((point) => point.consumer !== consumer);
  }

  /** Undefined if no consumer has the hash in its ranges. */
  consumerOf(hash: number): Consumer | undefined {
    if (this.#ring.length === 0)
      return this.#consumers.find(({ keyRanges = [] }) =>
        keyRanges.some((range) => has(range, hash)),
      );
    let low = 0;
    let high = this.#ring.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ring[middle]?.hash ?? 0) < hash) low = middle + 1;
      else high = middle;
    }
    return (this.#ring[low] ?? this.#ring[0])?.consumer;
  }

  #addPoints(consumer: Consumer): void {
    // Names need not differ.
    const name = `${consumer.name}\u0000${this.#joined++}`;
    const points = Array.from({ length: POINTS_PER_CONSUMER }, (_, index) => ({
      hash: this.#hashOf(`${name}\u0000${index}`),
      consumer,
    }));
    // Nearly sorted, which costs little more than a copy.
    this.#ring = [...this.#ring, ...points.toSorted(byHash)].toSorted(byHash);
  }

  #requireFree(ranges: readonly KeyRange[]): void {
    if (ranges.length === 0)
      throw new RefusalError("ConsumerAssignError", "a sticky consumer names its hash ranges");
    for (const range of ranges) {
      const isRange = 0 <= range.start && range.start <= range.end && range.end < KEY_HASHES;
      const taken = this.#consumers.some(({ keyRanges = [] }) =>
        keyRanges.some((other) => other.start <= range.end && range.start <= other.end),
      );
      if (!isRange || taken)
        throw new RefusalError(
          "ConsumerAssignError",
          `the range ${range.start} to ${range.end} ${isRange ? "has a consumer" : "is not within 0 to 65535"}`,
        );
    }
  }
}

function has({ start, end }: KeyRange, hash: number): boolean {
  return start <= hash && hash <= end;
}

function byHash(a: Point, b: Point): number {
  return a.hash - b.hash;
}
