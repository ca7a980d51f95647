import type { LogFiles } from "./log-files.ts";

/** Ends the name of a folder that is removed, until its files are. */
const GONE = ".gone";

/** Removes a folder in one step: a crash leaves all of its files or none that counts. */
export async function removeAtOnce(files: LogFiles, parent: string, name: string): Promise<void> {
  const gone = `${parent}/${name}${GONE}`;
  // Files of a former folder of this name may be left, if there were too few descriptors for it.
  await files.removeFolder(gone);
  await files.rename(`${parent}/${name}`, gone);
  await files.syncFolder(parent);
  await files.removeFolder(gone);
}

/** Whether a folder was being removed when the process ended. */
export function isGone(name: string): boolean {
  return name.endsWith(GONE);
}
