import type { DocumentStore } from "../../storage/document/document-store.ts";
import type { TopicLog } from "../../storage/log/topic-log.ts";
import type { Position } from "../../storage/position.ts";
import { StorageError } from "../../storage/storage-error.ts";
import { SequenceIds, decodeSnapshot, encodeSnapshot, sequenceOf } from "./sequence-ids.ts";
import type { EntrySequence } from "./sequence-ids.ts";
import { SEQUENCE_IDS_NAME } from "../topic-marks.ts";

export interface DeduplicationOptions {
  readonly log: TopicLog;
  /** Among the cursors. */
  readonly documents: DocumentStore;
  readonly nextTurn: () => Promise<void>;
  /** The policy, now. */
  readonly isWanted: () => boolean;
}

/** Entries after which the ids are saved; so many are read again at most when the topic is opened. */
const ENTRIES_PER_SAVE = 1_000;
const READ_BOUNDS = { countMax: 100, bytesMax: 1024 * 1024 };

/**
 * Tells entries that a producer sends again, by the sequence ids of each producer name. The ids are
 * saved now and then with the position up to which they count; after a crash the log is read on from
 * there. While the policy is off nothing is kept.
 */
export class Deduplication {
  readonly #options: DeduplicationOptions;
  #ids: SequenceIds | undefined;
  #countedBefore: Position;
  #entriesSinceSave = 0;
  #changing: Promise<void> = Promise.resolve();

  private constructor(options: DeduplicationOptions) {
    this.#options = options;
    this.#countedBefore = options.log.end;
  }

  /**
   * With what was saved; "damaged" counts all entries that the log keeps. What cannot be saved now, for
   * lack of room, keeps producers out and not consumers.
   */
  static async open(
    saved: Uint8Array | "damaged" | undefined,
    options: DeduplicationOptions,
  ): Promise<Deduplication> {
    const deduplication = new Deduplication(options);
    if (saved !== undefined && options.isWanted()) await deduplication.#restore(saved);
    else await deduplication.apply().catch(() => undefined);
    return deduplication;
  }

  get isOn(): boolean {
    return this.#ids !== undefined;
  }

  /** The policy has changed and `apply` has not been called since. */
  get isStale(): boolean {
    return this.#options.isWanted() !== this.isOn;
  }

  /** Follows the policy. Turned on, it counts from the end of the log. */
  apply(): Promise<void> {
    this.#changing = this.#changing.catch(() => undefined).then(() => this.#apply());
    return this.#changing;
  }

  /**
   * A producer opens, and nothing of its name is on its way to the log. Answers the last sequence id
   * of that name, -1 if there is none.
   */
  onOpened(producer: string): bigint {
    return this.#ids?.restart(producer) ?? -1n;
  }

  /** The sequence ids of an entry; undefined while there is nothing to look for. */
  sequenceOf(parts: readonly Uint8Array[]): EntrySequence | undefined {
    return this.#ids && sequenceOf(parts);
  }

  /** Whether it was appended before. If not, it counts as appended now. */
  isRepeated(sequence: EntrySequence): boolean {
    if (this.#ids?.has(sequence) === true) return true;
    this.#ids?.onAppend(sequence);
    return false;
  }

  /** Whether an entry that is repeated is in the log, and not only on its way there. */
  isStored(sequence: EntrySequence): boolean {
    return this.#ids?.isStored(sequence) ?? false;
  }

  /** Called for every entry, in the order of the log. */
  onStored(sequence: EntrySequence | undefined, { ledgerId, entryId }: Position): void {
    if (this.#ids === undefined) return;
    if (sequence !== undefined) this.#ids.onStored(sequence);
    this.#countedBefore = { ledgerId, entryId: entryId + 1 };
    this.#entriesSinceSave++;
    // One that fails is tried again later: until then more is read again after a crash.
    if (this.#entriesSinceSave % ENTRIES_PER_SAVE === 0) this.save().catch(() => undefined);
  }

  /** Before entries are removed from the log and before it closes. */
  async save(): Promise<void> {
    if (this.#ids === undefined || this.#entriesSinceSave === 0) return;
    const unsaved = this.#entriesSinceSave;
    this.#entriesSinceSave = 0;
    try {
      await this.#save(this.#ids);
    } catch (error) {
      this.#entriesSinceSave += unsaved;
      throw error;
    }
  }

  async #apply(): Promise<void> {
    const { documents, log } = this.#options;
    if (!this.isStale) return;
    if (this.isOn) {
      this.#ids = undefined;
      await documents.remove(SEQUENCE_IDS_NAME);
      return;
    }
    const ids = new SequenceIds();
    this.#countedBefore = log.end;
    this.#entriesSinceSave = 0;
    // Without it a restart would count nothing of what comes now.
    await this.#save(ids);
    this.#ids = ids;
  }

  async #restore(saved: Uint8Array | "damaged"): Promise<void> {
    const { log, nextTurn } = this.#options;
    const { before, lastIds } = readable(saved) ?? { before: log.first, lastIds: undefined };
    const ids = new SequenceIds(lastIds);
    this.#ids = ids;
    this.#countedBefore = before;
    for (;;) {
      const entries = await log.read(this.#countedBefore, READ_BOUNDS);
      if (entries.length === 0) return;
      for (const { bytes, position } of entries) {
        const sequence = sequenceOf([bytes]);
        if (sequence !== undefined) ids.onStored(sequence);
        this.#countedBefore = { ...position, entryId: position.entryId + 1 };
        this.#entriesSinceSave++;
      }
      await nextTurn();
    }
  }

  #save(ids: SequenceIds): Promise<void> {
    const { documents } = this.#options;
    const snapshot = { before: this.#countedBefore, lastIds: ids.lastIds() };
    return documents.save(SEQUENCE_IDS_NAME, encodeSnapshot(snapshot));
  }
}

function readable(saved: Uint8Array | "damaged"): ReturnType<typeof decodeSnapshot> | undefined {
  if (saved === "damaged") return undefined;
  try {
    return decodeSnapshot(saved);
  } catch (error) {
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}
