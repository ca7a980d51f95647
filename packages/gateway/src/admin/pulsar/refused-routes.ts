import { json } from "../http/answer.ts";
import { HttpError } from "../http/http-error.ts";
import type { Method, Route } from "../http/router.ts";
import type { BrokerAdmin } from "./broker-admin.ts";
import { existingTopicOf, ofBothDomains, topicPath } from "./named.ts";

const NO_COMPACTION = "not supported: this broker does not compact topics";

/** Pulsar's paths for what this broker does not do: each says so by name. */
export function refusedRoutes(admin: BrokerAdmin): readonly Route[] {
  return [
    refuse(
      "GET",
      "/admin/v3/transactions/transactionMetadata/{most}/{least}",
      "transactions are not supported",
    ),
    ...ofBothDomains((domain) => {
      const path = topicPath(domain);
      return [
        refuse("PUT", `${path}/compaction`, `compaction is ${NO_COMPACTION}`),
        {
          method: "GET",
          path: `${path}/compaction`,
          handle: (request) => {
            existingTopicOf(admin, domain, request);
            return json({ status: "NOT_RUN", lastError: "" });
          },
        },
        refuse("DELETE", `${path}/truncate`, "truncate is not supported; skip the backlog instead"),
        refuse("POST", `${path}/trim`, "trim is not supported: consumed entries go by themselves"),
        refuse("PUT", `${path}/backlogSize`, "backlogSize is not supported; see the topic's stats"),
        {
          method: "GET",
          path: `${path}/properties`,
          handle: (request) => {
            existingTopicOf(admin, domain, request);
            return json({});
          },
        },
      ];
    }),
  ];
}

function refuse(method: Method, path: string, what: string): Route {
  return {
    method,
    path,
    handle: () => {
      throw new HttpError(405, what);
    },
  };
}
