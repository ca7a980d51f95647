/** Values under these names are secret: of our options and of those of the client libraries. */
const SECRET_NAME = /pass|user|secret|token|credential|^key$/i;
/** The user name that every Redis server has; hiding it would only garble messages. */
const PUBLIC_USER = "default";
/** Options of client libraries nest at most four levels deep: `defaults.socket.key[0]`. */
const DEPTH_MAX = 5;

/** Every secret in options, wherever it stands: passwords, user names, private keys, URLs with either. */
export function secretsIn(options: unknown, depth: number = DEPTH_MAX): string[] {
  if (typeof options === "string") return secretsInUrl(options);
  if (typeof options !== "object" || options === null || depth === 0) return [];
  if (options instanceof Uint8Array) return [];
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) =>
    SECRET_NAME.test(name) ? textsIn(value, depth - 1) : secretsIn(value, depth - 1),
  );
}

function textsIn(value: unknown, depth: number): string[] {
  if (value === PUBLIC_USER) return [];
  if (typeof value === "string") return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString()];
  if (typeof value !== "object" || value === null || depth === 0) return [];
  return Object.values(value).flatMap((each: unknown) => textsIn(each, depth - 1));
}

function secretsInUrl(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { username, password } = new URL(text);
  return [username, password]
    .filter((part) => part !== PUBLIC_USER)
    .flatMap((part) => [part, decoded(part)]);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
