import { SeededRandom } from "@sluice/core";
import type { FileLogWorld, FileTopicLogOptions } from "../src/storage/log/file-topic-log.ts";
import { FileTopicLog } from "../src/storage/log/file-topic-log.ts";
import { CacheBudget } from "../src/storage/log/tail-cache.ts";
import type { LogFiles } from "../src/storage/file/log-files.ts";

/** A world on these files whose caches hold `cacheBytes`: with 0 all reads go to the files. */
export function worldOn(files: LogFiles, cacheBytes: number = 0): FileLogWorld {
  return { files, random: new SeededRandom(7), cache: new CacheBudget(cacheBytes) };
}

export const FOLDER = "logs/topic";

/** Opens the one log that these tests have. */
export function openOn(files: LogFiles, options: FileTopicLogOptions = {}): Promise<FileTopicLog> {
  return FileTopicLog.open(worldOn(files), FOLDER, options);
}
