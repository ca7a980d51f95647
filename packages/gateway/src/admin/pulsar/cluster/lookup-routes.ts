import { bareText, json } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import { shown } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import {
  DOMAINS,
  existingNamespaceOf,
  NAMESPACE_PATH,
  notFound,
  visibleTopicOf,
  topicPath,
} from "../named.ts";

/** One bundle is the whole hash range: every topic is here. */
export const BUNDLE = "0x00000000_0xffffffff";

/** All that clients with an http:// service URL ask for, schemas aside. */
export function lookupRoutes(admin: BrokerAdmin): readonly Route[] {
  const { broker, urls } = admin;
  const { autoCreateTopics } = admin.settings;
  const routes = DOMAINS.flatMap((domain): readonly Route[] => {
    const lookup = `/lookup/v2/topic/${domain}/{tenant}/{namespace}/{topic}`;
    return [
      {
        method: "GET",
        path: lookup,
        access: "client",
        handle: (request) => {
          const name = visibleTopicOf(domain, request);
          if (!autoCreateTopics && !broker.hasTopic(name.full)) throw notFound(name);
          const listener = request.query("listenerName") ?? "";
          if (listener !== "")
            throw new HttpError(
              412,
              `there is no listener ${shown(listener)}; connect without a listener name`,
            );
          const { broker: brokerUrl, brokerTls, http } = urls();
          return json({
            brokerUrl,
            nativeUrl: brokerUrl,
            httpUrl: http,
            brokerUrlTls: brokerTls,
            // The C++ client reads it without looking whether it is there.
            brokerUrlSsl: "",
          });
        },
      },
      {
        method: "GET",
        path: `${lookup}/bundle`,
        access: "client",
        handle: (request) => {
          visibleTopicOf(domain, request);
          return bareText(BUNDLE);
        },
      },
      {
        method: "GET",
        path: `${topicPath(domain)}/partitions`,
        access: "client",
        handle: (request) => {
          const name = visibleTopicOf(domain, request);
          const mayBeCreated = autoCreateTopics && request.flag("checkAllowAutoCreation");
          if (!mayBeCreated && !broker.hasTopic(name.full)) throw notFound(name);
          return json({ partitions: broker.partitionsOf(name.full), deleted: false });
        },
      },
    ];
  });
  return [...routes, namespaceTopics(admin)];
}

function namespaceTopics(admin: BrokerAdmin): Route {
  return {
    method: "GET",
    path: `${NAMESPACE_PATH}/topics`,
    access: "client",
    handle: (request) => {
      const mode = request.query("mode") ?? "PERSISTENT";
      if (!["PERSISTENT", "NON_PERSISTENT", "ALL"].includes(mode))
        throw new HttpError(400, "mode must be PERSISTENT, NON_PERSISTENT or ALL");
      const topics = admin.broker.topicsOf(existingNamespaceOf(admin, request));
      return json(
        request.caller.visible(topics).filter((topic) => mode === "ALL" || modeOf(topic) === mode),
      );
    },
  };
}

function modeOf(topic: string): string {
  return topic.startsWith("persistent:") ? "PERSISTENT" : "NON_PERSISTENT";
}
