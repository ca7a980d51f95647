import type { HttpSinkSettings } from "./sink-options.ts";

/** Fields whose values are no secrets; to hide them would only garble messages. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "content-type",
  "user-agent",
]);

/** Characters of the shortest text that counts as a secret. Lowered, ordinary words of an answer are hidden. */
const LENGTH_MIN = 4;

/** What every request sends and no message may show: a service may repeat its fields and its query in an answer. */
export function sentSecrets({
  url,
  headers,
}: Pick<HttpSinkSettings, "url" | "headers">): readonly string[] {
  const fields = Object.entries(headers)
    .filter(([name]) => !PUBLIC_FIELDS.has(name))
    .flatMap(([, value]) => [value, ...value.split(" ").slice(1)]);
  return [...fields, ...url.searchParams.values()].filter((text) => text.length >= LENGTH_MIN);
}
