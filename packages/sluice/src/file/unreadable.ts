import { ConfigError } from "@sluice/core";

/** What to tell of a file that cannot be "read" or "written". */
export function unreadable(file: string, what: string, cause: unknown): ConfigError {
  const { code = "" } = cause as NodeJS.ErrnoException;
  const why: Record<string, string> = {
    ENOENT: `there is no such ${what === "read" ? "file" : "folder"}`,
    EISDIR: "it is a folder",
    EACCES: "permission denied",
  };
  return new ConfigError(`${file} cannot be ${what}: ${why[code] ?? code}`, undefined, { cause });
}
