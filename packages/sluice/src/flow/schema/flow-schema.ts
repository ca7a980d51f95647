import {
  Permissions,
  parseHttpAddress,
  parseListenAddress,
  parseTopicName,
} from "@sluice/gateway/internal";
import {
  byteSize,
  described,
  duration,
  either,
  flag,
  lineOfText,
  list,
  map,
  record,
  whole,
} from "@sluice/lab/file";
import * as v from "valibot";
import { limitsField } from "./flow-limits.ts";
import { pipelinesField } from "../pipeline/pipeline-schema.ts";
import { storeField } from "./flow-store.ts";
import type { Flow, FlowGateway } from "../flow.ts";
import { parsedBy } from "./parsed-by.ts";
import { upstreamField } from "./upstream.ts";

const LISTEN = "pulsar://127.0.0.1:6650";
const ADMIN_LISTEN = "127.0.0.1:7070";
const ITEMS_MAX = 1_000;

const address = parsedBy(
  parseListenAddress,
  "an address such as pulsar://127.0.0.1:6650 or pulsar+ssl://127.0.0.1:6651",
);

const listen = either([address, list(address, ITEMS_MAX)], (value) =>
  Array.isArray(value)
    ? list(address, ITEMS_MAX)
    : v.pipe(
        address,
        v.transform((url) => [url]),
      ),
);

const patterns = list(
  parsedBy(
    (pattern) => new Permissions({ role: { produce: [pattern] } }),
    'a pattern of topics such as "public/default/*"',
  ),
  ITEMS_MAX,
);

const role = map({
  produce: v.optional(patterns, []),
  consume: v.optional(patterns, []),
  admin: v.optional(flag(), false),
});

const gateway = map({
  listen: v.optional(listen, [LISTEN]),
  advertisedHost: v.optional(lineOfText()),
  upstream: v.optional(upstreamField, "embedded"),
  data: v.optional(lineOfText()),
  partitions: v.optional(
    record(
      parsedBy(parseTopicName, "the name of a topic"),
      whole(1, 10_000),
      "topics with their number of partitions",
    ),
  ),
  retention: v.optional(map({ size: v.optional(byteSize()), age: v.optional(duration()) })),
  messageTtl: v.optional(duration()),
  auth: v.optional(
    map({
      tokenSecretFile: v.optional(lineOfText()),
      tokenPublicKeyFile: v.optional(lineOfText()),
      allowNoExpiry: v.optional(flag(), false),
      roles: v.optional(record(v.string(), role, "roles with their rights")),
    }),
  ),
  allowAnonymous: v.optional(flag(), false),
  tls: v.optional(map({ cert: lineOfText(), key: lineOfText() })),
  limits: v.optional(limitsField),
  connections: v.optional(
    map({
      connectionsMax: v.optional(whole(1)),
      connectionsPerAddressMax: v.optional(whole(1)),
      perSecond: v.optional(whole(1)),
      perAddressPerSecond: v.optional(whole(1)),
    }),
  ),
  fleet: v.optional(map({ maxMembers: v.optional(whole(1, 1_000)) })),
});

/** A flow file whose values are right, each by itself; files are as it names them. */
export interface CheckedFlow extends Pick<Flow, "name" | "store" | "admin"> {
  readonly gateway?: CheckedGateway | undefined;
  readonly pipelines?: Flow["pipelines"] | undefined;
}

export type CheckedGateway = Omit<FlowGateway, "data" | "partitions"> & {
  readonly data?: string | undefined;
  readonly partitions?: FlowGateway["partitions"] | undefined;
};

export const flowSchema: v.GenericSchema<unknown, CheckedFlow> = map({
  name: v.optional(lineOfText(), "sluice"),
  store: v.optional(storeField, "memory"),
  admin: v.optional(
    map({
      listen: v.optional(
        parsedBy(parseHttpAddress, "an address such as 127.0.0.1:7070"),
        ADMIN_LISTEN,
      ),
      advertisedHost: v.optional(lineOfText()),
      tokenFile: v.optional(lineOfText()),
      readWithoutToken: v.optional(flag(), false),
    }),
  ),
  gateway: v.optional(
    described(
      gateway,
      "A gateway for Pulsar clients, in front of the embedded broker or a cluster.",
    ),
  ),
  pipelines: v.optional(described(pipelinesField, "Pipelines by name: source, maps, sink.")),
});
