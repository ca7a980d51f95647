import type { AdminRequest, Answer, Route } from "@sluice/gateway/admin";
import { HttpError } from "@sluice/gateway/admin";
import type { LiveFeed } from "./live-feed.ts";
import type { LiveHello } from "./live-message.ts";
import type { Looked } from "./detail/live-details.ts";
import { LiveStream } from "./stream/live-stream.ts";

/** Pages that read at once. One takes some 64 kB if it does not read. */
const STREAMS_MAX = 32;

/** Characters of a name that a page asks for: of any topic that the gateway takes. */
const NAME_MAX = 4_096;

/** `/api/live`: what the dashboard shows, as server-sent events. `hello` is read when a page comes. */
export function liveRoutes(
  feed: LiveFeed,
  hello: () => Omit<LiveHello, "canChange">,
): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/live",
      access: "read",
      handle: (request) => {
        request.requireKnownQuery(["topic", "pool"]);
        const looked = { topic: nameOf(request, "topic"), pool: nameOf(request, "pool") };
        if (feed.pages >= STREAMS_MAX)
          throw new HttpError(
            503,
            `${STREAMS_MAX} pages read /api/live already; close one of them and try again`,
          );
        return streamOf(feed, looked, { ...hello(), canChange: request.caller.mayChange });
      },
    },
  ];
}

function nameOf(request: AdminRequest, key: "topic" | "pool"): string | undefined {
  const name = request.query(key);
  if (name !== undefined && name.length > NAME_MAX)
    throw new HttpError(400, `${key} has ${name.length} characters; expected at most ${NAME_MAX}`);
  return name === "" ? undefined : name;
}

function streamOf(feed: LiveFeed, looked: Looked, hello: LiveHello): Answer {
  return {
    status: 200,
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
    stream: (out) => {
      const stream = new LiveStream(out, feed.history);
      stream.open(JSON.stringify(hello), feed.changes, feed.poolPast(looked));
      return feed.join(stream, looked);
    },
  };
}
