import { readChecked } from "../file/checked-file.ts";
import type { LogFiles } from "../file/log-files.ts";
import { StorageError } from "../storage-error.ts";

/** The file in a topic's folder that has the name of the topic. */
export const NAME_FILE = "name";

export const CURSOR_ENDING = ".cursor";

export function topicsFolder(root: string): string {
  return `${root}/topics`;
}

export function cursorsFolder(topicFolder: string): string {
  return `${topicFolder}/cursors`;
}

export function schemasFolder(root: string): string {
  return `${root}/schemas`;
}

/** Rejects with a `StorageError` of kind `damaged` if the name is not there or not as written. */
export async function readTopicName(files: LogFiles, folder: string): Promise<string> {
  const file = `${folder}/${NAME_FILE}`;
  if ((await files.list(folder)).includes(NAME_FILE))
    return (await readChecked(files, file)).toString();
  throw new StorageError("damaged", `${file} is missing`, { spot: { file } });
}
