import { readChecked } from "../file/checked-file.ts";
import type { LogFiles } from "../file/log-files.ts";
import { StorageError } from "../storage-error.ts";

/** The file in a topic's folder that has the name of the topic. */
export const NAME_FILE = "name";

export const CURSOR_ENDING = ".cursor";

export const DOCUMENT_ENDING = ".document";

/** The file in the data folder that has the number of partitions of partitioned topics. */
export const PARTITIONS_FILE = "partitions";

export function topicsFolder(root: string): string {
  return `${root}/topics`;
}

export function cursorsFolder(topicFolder: string): string {
  return `${topicFolder}/cursors`;
}

export function schemasFolder(root: string): string {
  return `${root}/schemas`;
}

export function documentsFolder(root: string): string {
  return `${root}/documents`;
}

export async function readPartitionCounts(
  files: LogFiles,
  root: string,
): Promise<Map<string, number>> {
  if (!(await files.list(root)).includes(PARTITIONS_FILE)) return new Map();
  const content = await readChecked(files, `${root}/${PARTITIONS_FILE}`);
  return new Map(JSON.parse(content.toString()) as [string, number][]);
}

/** Rejects with a `StorageError` of kind `damaged` if the name is not there or not as written. */
export async function readTopicName(files: LogFiles, folder: string): Promise<string> {
  const file = `${folder}/${NAME_FILE}`;
  if ((await files.list(folder)).includes(NAME_FILE))
    return (await readChecked(files, file)).toString();
  throw new StorageError("damaged", `${file} is missing`, { spot: { file } });
}
