import type { Position } from "../position.ts";

/** A file that is not what was written. */
export interface Damage {
  readonly file: string;
  /** Where it begins, if that is known. */
  readonly offsetBytes: number | undefined;
  readonly message: string;
}

export interface SegmentReport {
  readonly ledgerId: number;
  /** Intact entries, up to the damage if there is one. */
  readonly entries: number;
  readonly bytes: number;
  /** An open segment is written to, or was when its broker ended. */
  readonly state: "sealed" | "open";
  /** Bytes at the end that belong to no stored entry: a write under way, or torn by a crash. */
  readonly tornBytes: number;
  readonly damage: Damage | undefined;
}

export interface CursorReport {
  readonly subscription: string;
  /** Everything before it is acknowledged. */
  readonly markDelete: Position;
  /** Ranges of entries that are acknowledged beyond it, and how many entries that are. */
  readonly ranges: number;
  readonly ackedBeyond: number;
  /** Batches of which some messages are acknowledged. */
  readonly partlyAcked: number;
}

export interface TopicReport {
  /** Undefined if its name file is damaged: the folder tells which topic it is. */
  readonly name: string | undefined;
  readonly folder: string;
  readonly segments: readonly SegmentReport[];
  readonly cursors: readonly CursorReport[];
}

export interface SchemaReport {
  readonly topic: string;
  readonly version: number;
  /** Pulsar's number of the schema type. */
  readonly type: number;
  readonly bytes: number;
}

/** What a data folder has. */
export interface DataReport {
  readonly folder: string;
  readonly topics: readonly TopicReport[];
  readonly schemas: readonly SchemaReport[];
  /** Partitioned topics, and the number of partitions of each. */
  readonly partitions: ReadonlyMap<string, number>;
  /** All damage, of segments too. */
  readonly damage: readonly Damage[];
}
