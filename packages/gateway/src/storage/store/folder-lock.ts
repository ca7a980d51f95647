import { open, readFile, readdir, rm } from "node:fs/promises";
import { StorageError, toStorageError } from "../storage-error.ts";

/** What tells the processes of a machine apart. */
export interface Processes {
  readonly ownPid: number;
  /** A word that no other process with this id ever had; undefined if none lives with it. */
  identify(pid: number): Promise<string | undefined>;
}

/** A folder that is ours until it is released. */
export interface FolderLock {
  release(): Promise<void>;
}

const LOCK_FILE = /^lock\.(\d+)\.(.+)$/;

/**
 * Takes a folder for this process, or rejects with a `StorageError` of kind `locked`.
 *
 * Each process puts a file with its own name there and then looks for those of others. So of two
 * that come at once at least one sees the other; it may be that both do and neither gets the folder.
 * The file of a process that was killed is known by its being dead, and removed. Processes must see
 * each other, as those in two containers do not.
 */
export async function lockFolder(processes: Processes, folder: string): Promise<FolderLock> {
  try {
    return await take(processes, folder);
  } catch (error) {
    throw toStorageError(error);
  }
}

async function take(processes: Processes, folder: string): Promise<FolderLock> {
  const own = `lock.${processes.ownPid}.${(await processes.identify(processes.ownPid)) ?? "alive"}`;
  const release = (): Promise<void> => rm(`${folder}/${own}`, { force: true });
  if (!(await create(`${folder}/${own}`))) throw locked(folder, own);
  try {
    for (const name of await readdir(folder)) {
      if (name === own || !LOCK_FILE.test(name)) continue;
      if (await isAlive(processes, name)) throw locked(folder, name);
      await rm(`${folder}/${name}`, { force: true });
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

/** False if it is there: then this process has the folder already. */
async function create(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.close();
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function isAlive(processes: Processes, lockFile: string): Promise<boolean> {
  const [, pid, identity] = LOCK_FILE.exec(lockFile) ?? [];
  return (await processes.identify(Number(pid))) === identity;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function locked(folder: string, lockFile: string): StorageError {
  const [, pid = ""] = LOCK_FILE.exec(lockFile) ?? [];
  const spot = { file: `${folder}/${lockFile}` };
  return new StorageError("locked", `${folder} is in use by process ${pid}`, { spot });
}

/** The processes of this machine. Only Linux tells when one started; elsewhere its id must do. */
export const nodeProcesses: Processes = {
  ownPid: process.pid,
  async identify(pid) {
    try {
      process.kill(pid, 0);
    } catch (error) {
      // Somebody else's process lives too.
      if (!isCode(error, "EPERM")) return undefined;
    }
    try {
      return startOf(await readFile(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return "alive";
    }
  },
};

/** When a process started, by what Linux says of it; undefined for one that waits to be buried. */
function startOf(stat: string): string | undefined {
  // The name before it is in brackets and may have anything in it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" ? undefined : fields[19];
}
