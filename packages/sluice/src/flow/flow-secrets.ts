import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Flow } from "./flow.ts";

/** Keys whose files hold a secret: `tokenFile`, `passwordFile`, `tokenSecretFile`; a public key is none. */
const SECRET_FILE = /(?:token|password|secret)(?!publickey)\w*file$/i;
/** Keys whose values are secrets: variables and settings of maps, fields of requests. */
const SECRET_KEY = /pass|token|secret|credential|auth|cookie|(?:api|access|private).?key/i;
/** Characters of the shortest text that counts as a secret. Lowered, ordinary words of a log are hidden. */
const LENGTH_MIN = 4;

/** The secrets that a flow file names anywhere, in values, addresses and files, so that logs can leave them out. */
export async function secretsOf(
  flow: Pick<Flow, "store" | "admin" | "gateway" | "pipelines" | "folder">,
): Promise<readonly string[]> {
  const texts = [...textsOf(flow, "")];
  const found = await Promise.all(texts.map(([key, text]) => secretsIn(key, text, flow.folder)));
  return found.flat().filter((secret) => secret.length >= LENGTH_MIN);
}

/** All texts of a value with their keys; those of a list have the list's key. */
function* textsOf(value: unknown, key: string): Generator<readonly [key: string, text: string]> {
  if (typeof value === "string") yield [key, value];
  else if (Array.isArray(value)) for (const each of value) yield* textsOf(each, key);
  else if (typeof value === "object" && value !== null)
    for (const [name, each] of Object.entries(value)) yield* textsOf(each, name);
}

async function secretsIn(key: string, text: string, folder: string): Promise<readonly string[]> {
  // A file that cannot be read is told by the connector that needs it.
  if (SECRET_FILE.test(key))
    return [
      await readFile(resolve(folder, text), "utf8").then(
        (content) => content.trim(),
        () => "",
      ),
    ];
  // "Bearer abc": the word alone is no secret, and may stand without its scheme.
  if (SECRET_KEY.test(key)) return [text, ...text.split(" ").slice(1)];
  return URL.canParse(text) ? inAddress(new URL(text)) : [];
}

function inAddress({ password, searchParams }: URL): readonly string[] {
  return [password, decoded(password), ...searchParams.values()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
