/** For the packages of this repository only: any name here may change or go in any version. */

// What a flow file is checked with before a broker is started.
export { parseHttpAddress } from "./admin/http/http-address.ts";
export { Permissions } from "./auth/permissions.ts";
export { parseTopicName } from "@sluice/pulsar/wire";
export { isLoopback, parseListenAddress } from "./server/listen-address.ts";
