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
}

/** Reads the scripts, which are files beside the code. */
export function loadScripts(): RedisScripts {
  return { sync: load("sync"), leave: load("leave"), setLimits: load("set-limits") };
}

function load(name: string): RedisScript {
  const text = readFileSync(new URL(`../../../lua/${name}.lua`, import.meta.url), "utf8");
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
