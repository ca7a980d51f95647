import { json } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import { wholeWithin } from "../../http/request.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { StoredEntry } from "../../../storage/log/topic-log.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { messageAnswer } from "./message-answer.ts";
import { messageIdJson } from "./message-id.ts";
import { existingTopicOf, ofBothDomains, requireUnpartitioned, topicPath } from "../named.ts";
import type { Domain } from "../named.ts";
import { subscriptionOf } from "./subscription-routes.ts";

const INT_MAX = 2 ** 31 - 1;
const TIME_MAX_MS = 8.64e15;
/** Entries that are counted from either end of a topic, one by one. */
const EXAMINE_MAX = 10_000;

/** Single messages: by id, by place in a backlog, from either end; ids of the last and of a time. */
export function messageRoutes(admin: BrokerAdmin): readonly Route[] {
  const { broker } = admin;
  return ofBothDomains((domain) => {
    const path = topicPath(domain);
    const topicOf = (request: AdminRequest): string => readableTopicOf(admin, domain, request);
    return [
      {
        method: "GET",
        path: `${path}/ledger/{ledger}/entry/{entry}`,
        handle: async (request) => {
          const position = {
            ledgerId: request.wholeParam("ledger", 0, Number.MAX_SAFE_INTEGER),
            entryId: request.wholeParam("entry", 0, Number.MAX_SAFE_INTEGER),
          };
          return found(await broker.entryAt(topicOf(request), position));
        },
      },
      {
        method: "GET",
        path: `${path}/subscription/{subscription}/position/{place}`,
        handle: async (request) => {
          const place = request.wholeParam("place", 1, INT_MAX);
          return found(await broker.peek(topicOf(request), subscriptionOf(request), place));
        },
      },
      {
        method: "GET",
        path: `${path}/examinemessage`,
        handle: async (request) => {
          const from = request.query("initialPosition") ?? "latest";
          const given = request.query("messagePosition") ?? "1";
          const place = wholeWithin("messagePosition", given, 1, EXAMINE_MAX);
          if (from !== "earliest" && from !== "latest")
            throw new HttpError(400, "initialPosition must be earliest or latest");
          return found(await broker.examine(topicOf(request), from, place));
        },
      },
      {
        method: "GET",
        path: `${path}/lastMessageId`,
        handle: async (request) => {
          const last = await broker.lastEntry(topicOf(request));
          return json(messageIdJson(last?.position ?? { ledgerId: -1, entryId: -1 }));
        },
      },
      {
        method: "GET",
        path: `${path}/messageid/{time}`,
        handle: async (request) => {
          const atMs = request.wholeParam("time", 0, TIME_MAX_MS);
          return json(messageIdJson(await broker.positionAtTime(topicOf(request), atMs)));
        },
      },
    ];
  });
}

function readableTopicOf(admin: BrokerAdmin, domain: Domain, request: AdminRequest): string {
  const name = existingTopicOf(admin, domain, request);
  requireUnpartitioned(admin, name, "reading messages");
  if (domain === "non-persistent")
    throw new HttpError(405, "a non-persistent topic keeps no messages");
  return name.full;
}

function found(entry: StoredEntry | undefined): ReturnType<typeof messageAnswer> {
  if (entry === undefined) throw new HttpError(404, "Message not found");
  return messageAnswer(entry);
}
