import { SeededRandom } from "@sluice/core";
import type { FileLogWorld, FileTopicLogOptions } from "../src/storage/log/file-topic-log.ts";
import { FileTopicLog } from "../src/storage/log/file-topic-log.ts";
import type { LogEvent, LogObserver } from "../src/storage/log/log-event.ts";
import { ReadCache } from "../src/storage/log/read-cache.ts";
import { FileBrokerStore } from "../src/storage/store/file-broker-store.ts";
import type { FileBrokerStoreOptions } from "../src/storage/store/file-broker-store.ts";
import { CacheBudget } from "../src/storage/log/tail-cache.ts";
import type { LogFiles } from "../src/storage/file/log-files.ts";

const READ_CACHE_BYTES = 1024 * 1024;

/** A world on these files whose caches hold `cacheBytes`: with 0 all reads go to the files. */
export function worldOn(files: LogFiles, cacheBytes: number = 0): FileLogWorld {
  return {
    files,
    random: new SeededRandom(7),
    cache: new CacheBudget(cacheBytes),
    readCache: new ReadCache(READ_CACHE_BYTES),
  };
}

export const FOLDER = "logs/topic";

/** Opens the one log that these tests have. */
export function openOn(
  files: LogFiles,
  options: FileTopicLogOptions = {},
  observe?: LogObserver,
): Promise<FileTopicLog> {
  return FileTopicLog.open(worldOn(files), FOLDER, options, observe);
}

/** Sum of the bytes that were cut off the ends of logs. */
export function cutBytesOf(events: readonly LogEvent[]): number {
  return events.reduce((sum, event) => sum + (event.kind === "tail-cut" ? event.bytes : 0), 0);
}

/** A store in the folder "broker" of these files, without a lock. */
export function openStoreOn(
  files: LogFiles,
  options: FileBrokerStoreOptions = {},
): Promise<FileBrokerStore> {
  return FileBrokerStore.open(
    "broker",
    { cacheBytesMax: 0, ...options },
    {
      files,
      random: new SeededRandom(7),
      lock: () => Promise.resolve({ release: () => Promise.resolve() }),
    },
  );
}
