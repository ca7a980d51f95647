import { readFile } from "node:fs/promises";
import { ConfigError } from "@sluice/core";
import { unreadable } from "./unreadable.ts";

export async function contentOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw unreadable(file, "read", cause);
  }
}

/** A public key: Pulsar's own tool writes DER, others PEM. */
export async function publicKeyOf(file: string): Promise<string | Buffer> {
  const content = await contentOf(file);
  const text = content.toString("latin1");
  return text.startsWith("-----BEGIN") ? text : content;
}

/** A bearer token in a file, without the line's end. */
export async function bearerTokenOf(file: string): Promise<string> {
  const token = (await contentOf(file)).toString("utf8").trim();
  if (!/^[\x21-\x7E]+$/.test(token))
    throw new ConfigError(`${file} must hold one token of visible ASCII characters`);
  return token;
}
