import { openerLike, openerOf } from "../connect/library.ts";
import { readRedisOptions } from "../options/options.ts";
import type { RedisStoreOptions } from "../options/options.ts";
import { Redaction } from "@sluice/core/internal";
import { secretsIn } from "../options/secrets-in.ts";
import { ScriptRunner } from "./script-runner.ts";

/** A runner of scripts with a connection of its own, as the options say. */
export function runnerOf(options: RedisStoreOptions): ScriptRunner {
  const { from, library, timeoutMs, timer } = readRedisOptions(options);
  const open =
    "client" in from
      ? Promise.resolve(openerLike(from.client, timeoutMs))
      : openerOf(from.target, { library, timeoutMs });
  const redaction = new Redaction(
    secretsIn("client" in from ? optionsOf(from.client) : from.target),
  );
  return new ScriptRunner({ open, redaction, timer, timeoutMs });
}

/** Where client libraries keep the options of a client. */
function optionsOf(client: object): unknown {
  const { options, _options, startupNodes } = client as Record<string, unknown>;
  return [options, _options, startupNodes];
}
