import type { Kept } from "../../ingress/desk/publish-desk.ts";
import { ownBytes } from "../../memory/own-bytes.ts";
import type { Effect } from "../../session/effect.ts";

/** A SEND that waits for a limit. */
export type HeldPublish = Extract<Effect, { readonly kind: "publish" }>;

/** What a held SEND takes beside its entry: its places in queues, and its part of the session. */
const FRAME_BYTES = 512;

/** A held entry does not keep the chunk that it came in. */
export function keepPublish(publish: HeldPublish): Kept<HeldPublish> {
  const own = ownBytes(publish.entry);
  const bytes = own.buffer.byteLength + FRAME_BYTES;
  return { item: own === publish.entry ? publish : { ...publish, entry: own }, bytes };
}
