import type { Problem } from "@sluice/lab/file";

/** Values under these keys may be secrets. */
const SECRET_KEY = /pass|token|secret|credential|header|user|^tls$/i;
/** Values of these keys are addresses, which may have a query with a key. */
const ADDRESS_KEY = /url$|^(?:servers|brokers|listen|upstream)$/i;

/** What a message shows of a value: JSON, cut with dots if it is long. */
const SHOWN = /^is (?:["[{\d-]|true|false|null)[^]*(?=; expected )/;

/** The message of a problem, without the value that was found if it may hold a secret. */
export function withoutSecrets({ path, message }: Problem): string {
  const [shown] = SHOWN.exec(message) ?? [];
  if (shown === undefined || !mayBeSecret(path, shown)) return message;
  return message.replace(SHOWN, () => "has a value that may hold a secret and is not shown");
}

function mayBeSecret(path: Problem["path"], shown: string): boolean {
  const keys = path.filter((key) => typeof key === "string");
  // A login before the host of an address, wherever it was put.
  if (shown.includes("@") || keys.some((key) => SECRET_KEY.test(key))) return true;
  return ADDRESS_KEY.test(keys.at(-1) ?? "") && (shown.includes("?") || shown.endsWith("..."));
}
