import type { AdminRequest } from "../../http/request.ts";
import type { PolicyPlace } from "../../../policy/policy-book.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { HttpError } from "../../http/http-error.ts";
import {
  DOMAINS,
  existingNamespaceOf,
  existingTopicOf,
  NAMESPACE_PATH,
  topicPath,
} from "../named.ts";

/** Where a policy is set: at a topic or at a namespace. */
export interface PolicyLevel {
  readonly kind: "topic" | "namespace";
  /** In front of the policy's name. */
  readonly path: string;
  /** The place that a request names. Throws an `HttpError` if it does not exist. */
  readonly placeOf: (request: AdminRequest) => PolicyPlace;
}

export function policyLevels(admin: BrokerAdmin): readonly PolicyLevel[] {
  const topics = DOMAINS.map((domain): PolicyLevel => ({
    kind: "topic",
    path: topicPath(domain),
    placeOf: (request) => {
      const { namespace, full, partition } = existingTopicOf(admin, domain, request);
      if (partition !== undefined)
        throw new HttpError(412, `${full} is a partition; policies belong to ${partition.of}`);
      return { namespace, topic: full };
    },
  }));
  const namespace: PolicyLevel = {
    kind: "namespace",
    path: NAMESPACE_PATH,
    placeOf: (request) => ({ namespace: existingNamespaceOf(admin, request) }),
  };
  return [...topics, namespace];
}
