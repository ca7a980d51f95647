import { ConnectorError } from "../connector-error.ts";

/** Codes of the operating system with what a person can do; other codes are shown as they are. */
const WAYS_OUT: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder; create it, or mend the path",
  EACCES: "permission denied; give this process the right to it",
  EPERM: "permission denied; give this process the right to it",
  EISDIR: "it is a folder; name a file",
  ENOTDIR: "a part of the path is a file; name a folder there",
  ENOSPC: "the disk is full; free some space",
  EROFS: "the disk is read-only; name another path",
};
/** Codes that end without a change of settings. */
const PASSING: ReadonlySet<string> = new Set(["ENOSPC", "EIO", "EMFILE", "ENFILE", "EAGAIN"]);

export function fileError(what: string, path: string, error: unknown): ConnectorError {
  const code = codeOf(error);
  const reason = WAYS_OUT[code] ?? (error instanceof Error ? error.message : String(error));
  return new ConnectorError(`${what} ${JSON.stringify(path)}: ${reason}`, {
    canHeal: PASSING.has(code),
    cause: error,
  });
}

/** The code of the operating system, such as `ENOENT`; empty for another error. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}
