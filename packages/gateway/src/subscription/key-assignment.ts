import { RefusalError } from "../refusal/refusal-error.ts";
import type { Consumer } from "./consumer.ts";

/** Hashes of keys go from 0 to 65,535, as in Pulsar. */
export const KEY_HASHES = 65_536;

/** Hashes from the first to the last, both included. */
export interface KeyRange {
  readonly start: number;
  readonly end: number;
}

/** Ranges that one sticky consumer may name; clients name a few. */
const RANGES_PER_CONSUMER_MAX = 1_000;

interface OwnedRange extends KeyRange {
  readonly consumer: Consumer;
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
  /** Of sticky consumers: in order, no two of which overlap. */
  #ranges: readonly OwnedRange[] = [];
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
    if (keyRanges !== undefined) this.#addRanges(consumer, keyRanges);
    else this.#addPoints(consumer);
    this.#consumers = [...this.#consumers, consumer];
  }

  remove(consumer: Consumer): void {
    this.#consumers = this.#consumers.filter((other) => other !== consumer);
    this.#ring = this.#ring.filter((point) => point.consumer !== consumer);
    this.#ranges = this.#ranges.filter((range) => range.consumer !== consumer);
  }

  /** Undefined if no consumer has the hash in its ranges. */
  consumerOf(hash: number): Consumer | undefined {
    if (this.#ring.length === 0) {
      const range = this.#ranges[firstIndex(this.#ranges, ({ end }) => end >= hash)];
      return range !== undefined && range.start <= hash ? range.consumer : undefined;
    }
    const at = firstIndex(this.#ring, (point) => point.hash >= hash);
    return (this.#ring[at] ?? this.#ring[0])?.consumer;
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

  #addRanges(consumer: Consumer, ranges: readonly KeyRange[]): void {
    if (ranges.length === 0) throw cannotAssign("a sticky consumer names its hash ranges");
    if (ranges.length > RANGES_PER_CONSUMER_MAX)
      throw cannotAssign(
        `${ranges.length} hash ranges; a consumer may name ${RANGES_PER_CONSUMER_MAX}`,
      );
    for (const { start, end } of ranges)
      if (!(0 <= start && start <= end && end < KEY_HASHES))
        throw cannotAssign(`the range ${start} to ${end} is not within 0 to 65535`);
    const owned = ranges.map(({ start, end }) => ({ start, end, consumer }));
    const all = [...this.#ranges, ...owned].toSorted((a, b) => a.start - b.start);
    all.forEach((range, index) => {
      const before = all[index - 1];
      if (before !== undefined && before.end >= range.start)
        throw cannotAssign(`the range ${range.start} to ${range.end} has a consumer`);
    });
    this.#ranges = all;
  }
}

function cannotAssign(why: string): RefusalError {
  return new RefusalError("ConsumerAssignError", why);
}

/** Of the first item of which something is true, which is true of all after it too. */
function firstIndex<T>(items: readonly T[], isTrue: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && !isTrue(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byHash(a: Point, b: Point): number {
  return a.hash - b.hash;
}
