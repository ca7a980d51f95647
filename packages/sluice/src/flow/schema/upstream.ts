import { requireTargets, parseServiceUrl } from "@sluice/gateway/internal";
import {
  either,
  field,
  JSON_SCHEMA,
  lineOfText,
  list,
  map,
  oneOf,
  real,
  show,
} from "@sluice/lab/file";
import type { Problem } from "@sluice/lab/file";
import * as v from "valibot";
import { parsedBy } from "./parsed-by.ts";

/** `gateway.upstream` of a cluster. Files are absolute. */
export interface FlowUpstream {
  readonly url: string;
  readonly tls?:
    | {
        readonly ca?: string | undefined;
        readonly cert?: string | undefined;
        readonly key?: string | undefined;
      }
    | undefined;
  readonly allow?:
    | {
        readonly hosts?: readonly string[] | undefined;
        readonly addresses?: readonly string[] | undefined;
      }
    | undefined;
  readonly lookup?: "auto" | "proxy" | "own-address" | undefined;
  readonly connectMs?: number | undefined;
  readonly handshakeMs?: number | undefined;
  readonly proxyVersion?: string | undefined;
}

const TARGETS_MAX = 1_000;
const DAY_MS = 86_400_000;
const EXAMPLE = "pulsar://broker:6650";

const cluster = map({
  url: field<string>(isCluster, `the URL of a cluster such as ${EXAMPLE}`, {
    type: "string",
  }),
  tls: v.optional(
    map({
      ca: v.optional(lineOfText()),
      cert: v.optional(lineOfText()),
      key: v.optional(lineOfText()),
    }),
  ),
  allow: v.optional(
    map({
      hosts: v.optional(
        list(
          parsedBy((host) => requireTargets({ hosts: [host] }), "host:port, such as broker-2:6650"),
          TARGETS_MAX,
        ),
      ),
      addresses: v.optional(
        list(
          parsedBy(
            (address) => requireTargets({ addresses: [address] }),
            "an IP address, or a network such as 10.0.0.0/8",
          ),
          TARGETS_MAX,
        ),
      ),
    }),
  ),
  lookup: v.optional(oneOf("auto", "proxy", "own-address")),
  connectMs: v.optional(real(1, DAY_MS)),
  handshakeMs: v.optional(real(1, DAY_MS)),
  proxyVersion: v.optional(lineOfText()),
});

const url = v.pipe(
  v.custom<string>(
    (value) => isCluster(value),
    ({ input }) =>
      `is ${show(input)}; expected embedded, or the URL of a cluster such as ${EXAMPLE}`,
  ),
  v.metadata({ [JSON_SCHEMA]: { type: "string" } }),
  v.transform((given): FlowUpstream => ({ url: given })),
);

/** `gateway.upstream`: where messages go, to the embedded broker or to a cluster, by its URL or a map. */
export const upstreamField: v.GenericSchema<unknown, "embedded" | FlowUpstream> = either(
  [url, cluster],
  (value) => {
    if (value === "embedded") return v.literal("embedded");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? cluster : url;
  },
);

/** What TLS of the gateway's own needs. */
export function upstreamMistakes(upstream: "embedded" | FlowUpstream): readonly Problem[] {
  if (upstream === "embedded" || upstream.tls === undefined) return [];
  const { url: given, tls } = upstream;
  const path = ["gateway", "upstream", "tls"];
  const mistakes: Problem[] = [];
  if (!parseServiceUrl(given).isTls)
    mistakes.push({
      path,
      message: `is given, but url is ${show(given)}; write pulsar+ssl://, or remove it`,
      isMissing: false,
    });
  if ((tls.cert === undefined) !== (tls.key === undefined))
    mistakes.push({
      path,
      message: `has ${tls.cert === undefined ? "key" : "cert"} alone; expected both cert and key, or neither`,
      isMissing: false,
    });
  return mistakes;
}

/** The same with the places of files as `at` has them. */
export function locatedUpstream(
  upstream: FlowUpstream,
  at: (path: string | undefined) => string | undefined,
): FlowUpstream {
  const { tls } = upstream;
  if (tls === undefined) return upstream;
  return { ...upstream, tls: { ca: at(tls.ca), cert: at(tls.cert), key: at(tls.key) } };
}

function isCluster(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    parseServiceUrl(value);
    return true;
  } catch {
    return false;
  }
}
