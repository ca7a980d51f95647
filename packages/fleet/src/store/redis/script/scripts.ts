import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A script as the server runs it, and the name by which the server knows it. */
export interface RedisScript {
  readonly text: string;
  readonly sha: string;
}

/** Every script that the store runs. */
export interface RedisScripts {
  readonly sync: RedisScript;
  readonly leave: RedisScript;
  readonly setLimits: RedisScript;
  readonly roster: RedisScript;
}

/** Reads the scripts, which are files beside the code. Those of the ledger begin with what they share. */
export function loadScripts(): RedisScripts {
  return {
    sync: loadScript("ledger", "sync"),
    leave: loadScript("ledger", "leave"),
    setLimits: loadScript("set-limits"),
    roster: loadScript("ledger", "roster"),
  };
}

/** The files `lua/<name>.lua`, one after the other. */
export function loadScript(...names: readonly string[]): RedisScript {
  const files = names.map((name) => new URL(`../../../../lua/${name}.lua`, import.meta.url));
  const text = files.map((file) => readFileSync(file, "utf8")).join("");
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
