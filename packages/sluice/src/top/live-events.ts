import { parseShown } from "../cli/shown-json.ts";
import { unpackSample } from "../live/packed-sample.ts";
import type { PackedSample } from "../live/packed-sample.ts";
import type { LiveHello, LivePoolDetail, LiveSample } from "../live/live-message.ts";

/** What the view takes from `/api/live`. */
export type LiveEvent =
  | { readonly name: "hello"; readonly hello: LiveHello }
  | { readonly name: "past"; readonly samples: readonly LiveSample[] }
  | { readonly name: "sample"; readonly sample: LiveSample }
  | { readonly name: "pool"; readonly pool: LivePoolDetail };

/** One message has at most 64 kB; a peer that sends more without an end of line is not ours. */
const UNREAD_CHARACTERS_MAX = 4 * 1024 * 1024;

/** Reads the server-sent events of `/api/live`; ends with them. Events that the view does not show are left out. */
export async function* liveEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<LiveEvent> {
  const decoder = new TextDecoder();
  let unread = "";
  for await (const chunk of bytes) {
    unread += decoder.decode(chunk, { stream: true });
    if (unread.length > UNREAD_CHARACTERS_MAX) throw new Error("a message of /api/live has no end");
    const blocks = unread.split("\n\n");
    unread = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== undefined) yield event;
    }
  }
}

function eventOf(block: string): LiveEvent | undefined {
  const fieldsOf = (key: string): string =>
    block
      .split("\n")
      .filter((line) => line.startsWith(`${key}: `))
      .map((line) => line.slice(key.length + 2))
      .join("\n");
  const name = fieldsOf("event");
  const json = (): unknown => parseShown(fieldsOf("data"));
  switch (name) {
    case "hello":
      return { name, hello: json() as LiveHello };
    case "past":
      return { name, samples: (json() as readonly PackedSample[]).map(unpackSample) };
    case "sample":
      return { name, sample: unpackSample(json() as PackedSample) };
    case "pool":
      return { name, pool: json() as LivePoolDetail };
    default:
      return undefined;
  }
}
