import { RefusalError } from "../../../refusal/refusal-error.ts";
import type { Consumer } from "../../consumer.ts";

/** Hashes of keys go from 0 to 65,535, as in Pulsar. */
export const KEY_HASHES = 65_536;

/** Hashes from the first to the last, both included. */
export interface KeyRange {
  readonly start: number;
  readonly end: number;
}

/** Ranges that one sticky consumer may name; clients name a few. */
const RANGES_PER_CONSUMER_MAX = 1_000;

/** Hashes of one consumer, up to `end`: from `start` on, or from the next lower share on. */
interface Share {
  readonly start: number;
  readonly end: number;
  readonly consumer: Consumer;
}

/** Points of a consumer on the ring, as in Pulsar; more of them share the keys more evenly. */
const POINTS_PER_CONSUMER = 100;

/**
 * Which consumer of a Key_Shared subscription gets which keys: by consistent hashing, so that few
 * keys move when a consumer joins or leaves; or, if the consumers are sticky, by the ranges of hashes
 * that they name.
 */
export class KeyAssignment {
  readonly #hashOf: (text: string) => number;
  #consumers: readonly Consumer[] = [];
  /** Sorted by `end`. */
  #shares: readonly Share[] = [];
  #joined = 0;

  /** `hashOf`: the hash of a text, from 0 to 65,535. */
  constructor(hashOf: (text: string) => number) {
    this.#hashOf = hashOf;
  }

  get consumers(): readonly Consumer[] {
    return this.#consumers;
  }

  /** Throws a `RefusalError` if its ranges overlap, or if other consumers are sticky and it is not. */
  add(consumer: Consumer): void {
    const { keyRanges } = consumer;
    const [other] = this.#consumers;
    if (other !== undefined && (other.keyRanges === undefined) !== (keyRanges === undefined))
      throw new RefusalError("ConsumerBusy", "the subscription has another Key_Shared mode");
    const more = keyRanges === undefined ? this.#pointsOf(consumer) : rangesOf(consumer, keyRanges);
    const shares = [...this.#shares, ...more.toSorted(byEnd)].toSorted(byEnd);
    if (keyRanges !== undefined) requireDisjoint(shares);
    this.#shares = shares;
    this.#consumers = [...this.#consumers, consumer];
  }

  remove(consumer: Consumer): void {
    this.#consumers = this.#consumers.filter((other) => other !== consumer);
    this.#shares = this.#shares.filter((share) => share.consumer !== consumer);
  }

  /** Undefined if no consumer has the hash in its ranges. */
  consumerOf(hash: number): Consumer | undefined {
    let low = 0;
    let high = this.#shares.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#shares[middle]?.end ?? 0) < hash) low = middle + 1;
      else high = middle;
    }
    const share = this.#shares[low];
    if (share !== undefined) return share.start <= hash ? share.consumer : undefined;
    // After the last point of the ring comes the first; ranges do not go round.
    const [first] = this.#shares;
    return first?.consumer.keyRanges === undefined ? first?.consumer : undefined;
  }

  #pointsOf(consumer: Consumer): readonly Share[] {
    // Names need not differ.
    const name = `${consumer.name}\u0000${this.#joined++}`;
    return Array.from({ length: POINTS_PER_CONSUMER }, (_, index) => ({
      start: 0,
      end: this.#hashOf(`${name}\u0000${index}`),
      consumer,
    }));
  }
}

function rangesOf(consumer: Consumer, ranges: readonly KeyRange[]): readonly Share[] {
  if (ranges.length === 0) throw notAssigned("a sticky consumer names its hash ranges");
  if (ranges.length > RANGES_PER_CONSUMER_MAX)
    throw notAssigned(
      `${ranges.length} hash ranges; a consumer may name ${RANGES_PER_CONSUMER_MAX}`,
    );
  return ranges.map(({ start, end }) => {
    if (0 <= start && start <= end && end < KEY_HASHES) return { start, end, consumer };
    throw notAssigned(`the range ${start} to ${end} is not within 0 to ${KEY_HASHES - 1}`);
  });
}

function requireDisjoint(shares: readonly Share[]): void {
  let before = -1;
  for (const { start, end } of shares) {
    if (start <= before) throw notAssigned(`the range ${start} to ${end} overlaps with another`);
    before = end;
  }
}

function notAssigned(why: string): RefusalError {
  return new RefusalError("ConsumerAssignError", why);
}

function byEnd(a: Share, b: Share): number {
  return a.end - b.end;
}
