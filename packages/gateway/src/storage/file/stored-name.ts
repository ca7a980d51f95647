import { createHash } from "node:crypto";
import { InvariantError } from "@sluice/core";
import { nameFlaw } from "./name-flaw.ts";

/** How much of a name can be read in the file's. */
const READABLE_LENGTH = 40;
const HASH_LENGTH = 32;

/**
 * The file or folder of a name that any client may have chosen. The front is for people; the hash
 * makes it one name's alone, also where a file system takes A for a or has no room for long names.
 * The name itself is kept in the file.
 */
export function fileNameOf(name: string): string {
  const readable = name.slice(0, READABLE_LENGTH).replaceAll(/[^\w-]/g, "_");
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  return `${readable}-${hash}`;
}

const STORED_NAME = new RegExp(String.raw`^[\w-]{1,${READABLE_LENGTH}}-[0-9a-f]{${HASH_LENGTH}}$`);

/** Whether a file or folder has a name that a store gives. Others are left alone, e.g. lost+found. */
export function isStoredName(fileName: string): boolean {
  return STORED_NAME.test(fileName);
}

/** The name of a file, if the readable front is all of it; undefined if only the hash tells. */
export function readableNameOf(fileName: string): string | undefined {
  const name = fileName.slice(0, -(1 + HASH_LENGTH));
  return fileNameOf(name) === fileName ? name : undefined;
}

/** Throws unless a name can be stored. */
export function requireName(name: string): void {
  const flaw = nameFlaw(name);
  if (flaw !== undefined) throw new InvariantError(`a stored name ${flaw}`);
}
