import { statSync } from "node:fs";

/** Whether a path is that of a file; also through a link. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
