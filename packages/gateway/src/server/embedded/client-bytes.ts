import type { CommandBodies } from "@sluice/pulsar/wire";
import type { ByteBudget } from "../../memory/byte-budget.ts";
import { requireMemory } from "./embedded-world.ts";

/** What a producer or consumer takes of the budget beside its texts: measured, with its topic's part of it. */
const CLIENT_BYTES = 2_048;

/** What a pair of metadata, or a hash range, takes beside its texts. */
const PAIR_BYTES = 128;

/** While memory is exhausted, a producer or consumer that takes more than this is refused; most take 3 KiB. */
const SMALL_CLIENT_BYTES = 8_192;

/** Counts the producers and consumers of one connection, with what their client says of them. */
export class ClientBytes {
  readonly #memory: ByteBudget;
  readonly #bytes = new Map<number, number>();

  constructor(memory: ByteBudget) {
    this.#memory = memory;
  }

  /** Until it is released. Refuses what would take lasting memory that is short. */
  reserve(
    key: number,
    request: CommandBodies["producer"] | CommandBodies["subscribe"],
    names: readonly (string | undefined)[],
  ): void {
    const { topic, metadata = [] } = request;
    const { hashRanges = [] } = ("keySharedMeta" in request && request.keySharedMeta) || {};
    let bytes = CLIENT_BYTES + textBytes(topic) + PAIR_BYTES * hashRanges.length;
    for (const name of names) bytes += textBytes(name);
    for (const { key: name, value } of metadata)
      bytes += PAIR_BYTES + textBytes(name) + textBytes(value);
    const { isFull, isExhausted } = this.#memory;
    requireMemory(isFull || (isExhausted && bytes > SMALL_CLIENT_BYTES));
    this.#memory.reserve("clients", bytes);
    this.#bytes.set(key, bytes);
  }

  release(key: number): void {
    const bytes = this.#bytes.get(key);
    if (bytes === undefined) return;
    this.#bytes.delete(key);
    this.#memory.release("clients", bytes);
  }
}

/** What a text takes at most in memory. */
function textBytes(text = ""): number {
  return 2 * text.length;
}
