/** For the packages of this repository only: any name here may change or go in any version. */

// What a flow file is checked with before a broker is started.
export { parseHttpAddress } from "./admin/http/http-address.ts";
export { Permissions } from "./auth/permissions.ts";
export { requireFleet, requireShareable } from "./ingress/fleet/fleet-settings.ts";
export { parseGroupPattern } from "./name/topic-pattern.ts";
export { formatTopicName, parseServiceUrl, parseTopicName } from "@sluice/pulsar/wire";
export { requireTargets } from "./upstream/target-guard.ts";
export { isLoopback, parseListenAddress } from "./server/socket/listen-address.ts";

// The server without sockets, for runs in virtual time.
export type { PeerSocket } from "./server/socket/peer-socket.ts";
export { MemoryBrokerStore } from "./storage/store/memory-broker-store.ts";
export type { StoredTopic } from "./storage/store/broker-store.ts";
export type { TopicLog } from "./storage/log/topic-log.ts";
export { prepareEmbeddedServer } from "./embedded-server.ts";
export { Broker } from "./broker/broker.ts";
export { sessionLimits } from "./session/limits.ts";
export type { EmbeddedServer } from "./embedded-server.ts";

// How limits, topics and times are written for people.
export { shortTopic } from "./admin/limits/setting.ts";
export {
  bytesText,
  countText,
  durationText,
  limitText,
  perSecondText,
} from "./observe/rate-words.ts";
