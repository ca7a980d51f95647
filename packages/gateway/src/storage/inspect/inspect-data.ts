import { decodeCursor } from "../cursor/cursor-codec.ts";
import { readDocuments } from "../document/file-document-store.ts";
import type { DocumentPlace } from "../document/file-document-store.ts";
import type { LogFiles } from "../file/log-files.ts";
import { nodeFiles } from "../file/node-files.ts";
import { isStoredName } from "../file/stored-name.ts";
import { SCHEMA_ENDING } from "../schema/file-schema-store.ts";
import { decodeSchema } from "../schema/schema-codec.ts";
import {
  CURSOR_ENDING,
  DOCUMENT_ENDING,
  NAME_FILE,
  PARTITIONS_FILE,
  cursorsFolder,
  documentsFolder,
  readPartitionCounts,
  readTopicName,
  schemasFolder,
  topicsFolder,
} from "../store/topic-folder.ts";
import { StorageError } from "../storage-error.ts";
import type { CursorReport, DataReport, SchemaReport, TopicReport } from "./data-report.ts";
import { Findings } from "./findings.ts";
import { inspectSegments } from "./inspect-segments.ts";

/**
 * Reads the data folder of a broker, which may run or have crashed, and changes nothing: no lock is
 * taken, no torn tail is cut. Every stored record is checked; damage is reported, not thrown. While a
 * broker runs, files come and go: the report is of each file as it was when it was read.
 */
export async function inspectData(
  folder: string,
  files: LogFiles = nodeFiles,
): Promise<DataReport> {
  const inside = await list(files, folder);
  if (!inside.includes("topics"))
    throw new StorageError(
      "failed",
      `${folder} has no folder "topics"; use the data folder of a broker`,
      { spot: { file: folder } },
    );
  const findings = new Findings(files);
  const topics: TopicReport[] = [];
  for (const name of await list(files, topicsFolder(folder)))
    if (isStoredName(name))
      topics.push(await inspectTopic(files, `${topicsFolder(folder)}/${name}`, findings));
  const schemas = await inspectSchemas(files, schemasFolder(folder), findings);
  const partitions =
    (await findings.attempt(folder, PARTITIONS_FILE, () => readPartitionCounts(files, folder))) ??
    new Map<string, number>();
  // Only their owners understand documents; whether they are whole is checked here.
  const documents = { folder: documentsFolder(folder), ending: DOCUMENT_ENDING };
  await inspectDocuments(files, documents, { findings, visit: () => undefined });
  return { folder, topics, schemas, partitions, damage: findings.damage };
}

async function inspectTopic(
  files: LogFiles,
  folder: string,
  findings: Findings,
): Promise<TopicReport> {
  const missing = async (): Promise<string | undefined> => {
    await findings.noteMissing(folder, NAME_FILE);
    return undefined;
  };
  const hasName = (await list(files, folder)).includes(NAME_FILE);
  const name = hasName
    ? await findings.attempt(folder, NAME_FILE, () => readTopicName(files, folder))
    : await missing();
  const segments = await inspectSegments(files, folder, findings);
  const cursors: CursorReport[] = [];
  const place = { folder: cursorsFolder(folder), ending: CURSOR_ENDING };
  await inspectDocuments(files, place, {
    findings,
    visit: (subscription, bytes) => {
      // The topic keeps marks of its own beside the cursors, under names that no client can choose.
      if (!subscription.startsWith("\0")) cursors.push(cursorReport(subscription, bytes));
    },
  });
  return { name, folder, segments, cursors };
}

function cursorReport(subscription: string, bytes: Uint8Array): CursorReport {
  const { ackedBefore, ranges, ackSets } = decodeCursor(bytes);
  return {
    subscription,
    markDelete: ackedBefore,
    ranges: ranges.reduce((count, { from }) => count + from.length, 0),
    ackedBeyond: ranges.reduce((entries, { from, to }) => entries + sumOf(to) - sumOf(from), 0),
    partlyAcked: ackSets.length,
  };
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}

async function inspectSchemas(
  files: LogFiles,
  root: string,
  findings: Findings,
): Promise<readonly SchemaReport[]> {
  const schemas: SchemaReport[] = [];
  for (const name of await list(files, root)) {
    if (!isStoredName(name)) continue;
    const place = { folder: `${root}/${name}`, ending: SCHEMA_ENDING };
    await inspectDocuments(files, place, {
      findings,
      visit: (version, bytes) => {
        const { topic, schema } = decodeSchema(bytes);
        schemas.push({ topic, version: Number(version), type: schema.type, bytes: bytes.length });
      },
    });
  }
  return schemas;
}

async function inspectDocuments(
  files: LogFiles,
  place: DocumentPlace,
  {
    findings,
    visit,
  }: {
    readonly findings: Findings;
    readonly visit: (name: string, bytes: Uint8Array) => void;
  },
): Promise<void> {
  if ((await list(files, place.folder)).length === 0) return;
  for await (const file of readDocuments(files, place)) {
    if (file.damage !== undefined) {
      findings.note(file.damage);
      continue;
    }
    try {
      visit(file.name, file.bytes);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      findings.note(
        new StorageError("damaged", `${place.folder}: ${error.message} (${file.name})`, {
          spot: { file: place.folder },
        }),
      );
    }
  }
}

/** Nothing for a folder that is not there: a broker makes some of them late, and removes topics. */
async function list(files: LogFiles, folder: string): Promise<readonly string[]> {
  try {
    return await files.list(folder);
  } catch (error) {
    if (error instanceof StorageError && !error.mayHeal) return [];
    throw error;
  }
}
