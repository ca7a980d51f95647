/** The publish limits of a gateway without sockets, for simulations: `@sluice/gateway/sim`. No module of Node.js. */
export { Ingress } from "./ingress/ingress.ts";
export type { IngressDependencies } from "./ingress/ingress.ts";
export type { ConnectionIngress } from "./ingress/connection/connection-ingress.ts";
export type { IngressSettings } from "./ingress/settings.ts";
export { CountedByteBudget } from "./memory/counted-byte-budget.ts";
