/** An entry of a stream; without fields: it was removed while it was pending. */
export interface Entry {
  readonly id: string;
  readonly fields: readonly Buffer[] | undefined;
}

/** The entries of `XREADGROUP` for one stream; none if the wait ended without any. */
export function readEntriesOf(reply: unknown): Entry[] {
  const [stream] = listOf(reply);
  const [, entries] = listOf(stream);
  return entriesOf(entries);
}

/** The reply of `XAUTOCLAIM`: where the next scan starts, and what was claimed. */
export function claimOf(reply: unknown): { readonly cursor: string; readonly entries: Entry[] } {
  const [cursor, entries] = listOf(reply);
  return {
    cursor: Buffer.isBuffer(cursor) ? cursor.toString() : "0-0",
    entries: entriesOf(entries),
  };
}

/** A list of `[id, [field, value, …]]`. */
function entriesOf(list: unknown): Entry[] {
  return listOf(list).flatMap((item) => {
    // Redis 6.2 claims entries that were removed as nothing at all.
    if (!Array.isArray(item)) return [];
    const [id, fields] = item as readonly unknown[];
    return [{ id: String(id), fields: Array.isArray(fields) ? (fields as Buffer[]) : undefined }];
  });
}

/**
 * Entries that the group has not read, by the reply of `XINFO GROUPS`: its `lag`, from Redis 7.0 on. Before that, or
 * after entries were deleted by id, the length of the stream if the group has read nothing; else undefined.
 */
export async function backlogOf(
  groups: unknown,
  group: string,
  length: () => Promise<unknown>,
): Promise<number | undefined> {
  const found = listOf(groups)
    .map(pairsOf)
    .find((each) => String(each.get("name")) === group);
  const lag = found?.get("lag");
  if (typeof lag === "number") return lag;
  return String(found?.get("last-delivered-id")) === "0-0" ? Number(await length()) : undefined;
}

function pairsOf(list: unknown): Map<string, unknown> {
  const items = listOf(list);
  const pairs = new Map<string, unknown>();
  for (let at = 0; at + 1 < items.length; at += 2) pairs.set(String(items[at]), items[at + 1]);
  return pairs;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
