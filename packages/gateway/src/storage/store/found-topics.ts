import type { BrokerObserver } from "../../observe/broker-event.ts";
import { UNFINISHED } from "../file/checked-file.ts";
import { isGone } from "../file/gone-folder.ts";
import type { LogFiles } from "../file/log-files.ts";
import { isStoredName } from "../file/stored-name.ts";
import { StorageError } from "../storage-error.ts";
import {
  NAME_FILE,
  PARTITIONS_FILE,
  readPartitionCounts,
  readTopicName,
  topicsFolder,
} from "./topic-folder.ts";

/**
 * Names of all topics; what was being made or removed in a crash goes. A topic whose name cannot be
 * read is left as it is, and found again when a client uses it by name.
 */
export async function findTopics(
  files: LogFiles,
  root: string,
  observe: BrokerObserver,
): Promise<{ readonly topics: Set<string>; readonly nameless: Set<string> }> {
  const topics = new Set<string>();
  const nameless = new Set<string>();
  for (const folderName of await files.list(topicsFolder(root))) {
    if (!isStoredName(folderName) && !isGone(folderName)) continue;
    const folder = `${topicsFolder(root)}/${folderName}`;
    const inside = isGone(folderName) ? [] : await files.list(folder);
    const hasEntries = inside.some((file) => file.endsWith(".log"));
    if (!inside.includes(NAME_FILE) && !hasEntries) {
      await files.removeFolder(folder);
      continue;
    }
    try {
      topics.add(await readTopicName(files, folder));
    } catch (error) {
      if (!(error instanceof StorageError) || error.kind !== "damaged") throw error;
      nameless.add(folderName);
      observe({ kind: "damaged", topic: undefined, error });
    }
  }
  return { topics, nameless };
}

/** Of the topics that have partitions. */
export async function findPartitionCounts(
  files: LogFiles,
  root: string,
): Promise<Map<string, number>> {
  await files.remove(`${root}/${PARTITIONS_FILE}${UNFINISHED}`);
  return readPartitionCounts(files, root);
}
