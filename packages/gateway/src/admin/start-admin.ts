import { ConfigError } from "@sluice/core";
import type { Clock, Timer } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import { formatWallTime, systemTimer, systemWallClock } from "@sluice/core/system";
import { EventFeed } from "../observe/event-feed.ts";
import { isLoopback } from "../server/socket/listen-address.ts";
import { reachableHost } from "../server/socket/reachable-host.ts";
import { NO_ADDITION } from "./admin-addition.ts";
import type { AdminAddition } from "./admin-addition.ts";
import type { AdministrableGateway } from "./administered-broker.ts";
import { CLUSTER } from "./cluster.ts";
import { json } from "./http/answer.ts";
import { Guard } from "./http/guard.ts";
import { httpUrl, parseHttpAddress } from "./http/http-address.ts";
import { httpLimits } from "./http/http-limits.ts";
import type { HttpLimits } from "./http/http-limits.ts";
import { HttpServer } from "./http/http-server.ts";
import { readable, Router } from "./http/router.ts";
import type { Route } from "./http/router.ts";
import { limitRoutes } from "./limits/limit-routes.ts";
import { placesIn } from "./limits/gateway-why.ts";
import type { FindPlace } from "./limits/gateway-why.ts";
import type { PlaceOf } from "./limits/setting.ts";
import { nothingCalled } from "./limits/unknown-name.ts";
import { whyRoutes } from "./limits/why-routes.ts";
import { observeRoutes } from "./observe/observe-routes.ts";
import { embeddedOf, observedGateway } from "./observe/observed-gateway.ts";
import { processMetrics } from "./observe/process-metrics.ts";
import { pulsarRoutes } from "./pulsar/pulsar-routes.ts";
import { refusalAnswer } from "./pulsar/refusal-answer.ts";

export interface StartAdminOptions {
  /** 127.0.0.1:7070 unless given; port 0 takes a free one. */
  readonly listen?: string;
  /** The host that tools and clients are sent to, if it is not the one to listen on. Default: the host to listen on. */
  readonly advertisedHost?: string;
  /** A broker, or a gateway in front of a cluster, which has no topics of its own to administer. Absent: `addition` alone. */
  readonly broker?: AdministrableGateway;
  /** A bearer token that may do everything, beside those of the broker's roles. Default: none. */
  readonly token?: string;
  /** Whether state, limits, waits and metrics can be read without a token; changes need one. Default: false. */
  readonly readWithoutToken?: boolean;
  /** The events of the broker; without it `/api/events` has none. */
  readonly events?: EventFeed;
  readonly version: string;
  /** Bounds of requests and connections. Default: those of `HttpLimits`. */
  readonly limits?: Partial<HttpLimits>;
  /**
   * Where a key of the flow file stands, as "flow.yaml:12"; undefined if it does not have the key.
   * Default: no place is told.
   */
  readonly placeOf?: FindPlace;
  /** More routes beside the broker's. Default: none. */
  readonly routes?: readonly Route[];
  /** What other parts of the process tell, such as its pipelines. Default: nothing. */
  readonly addition?: AdminAddition;
  /** A request failed that should not have; its client was told 500. Default: none. */
  readonly onError?: (error: unknown) => void;
}

/** Time, for tests. */
export interface AdminWorld {
  readonly timer: Timer;
  readonly wallClock: Clock;
}

export interface RunningAdmin {
  /** http:// */
  readonly url: string;
  /** Takes no more requests, ends event streams, and answers what it has begun. */
  close(): Promise<void>;
}

const KNOWN: ReadonlySet<string> = new Set([
  "listen",
  "advertisedHost",
  "broker",
  "token",
  "readWithoutToken",
  "events",
  "version",
  "limits",
  "placeOf",
  "routes",
  "addition",
  "onError",
]);

const LISTEN = "127.0.0.1:7070";
/** Shorter ones can be guessed. */
const TOKEN_LENGTH_MIN = 16;

/** Serves the administration of a broker over HTTP until it is closed. */
export async function startAdmin(
  options: StartAdminOptions,
  { timer, wallClock }: AdminWorld = { timer: systemTimer, wallClock: systemWallClock },
): Promise<RunningAdmin> {
  requireKnownKeys("administration", options, KNOWN);
  const { broker, token, version, routes = [], onError = () => {} } = options;
  const { addition = NO_ADDITION } = options;
  const { events = new EventFeed(wallClock) } = options;
  const address = parseHttpAddress(options.listen ?? LISTEN);
  const roles = broker?.administered.roles;
  requireToken(address.host, token, roles !== undefined);
  const router = new Router();
  const server = await HttpServer.open(address, {
    router,
    guard: new Guard({
      isLoopback: isLoopback(address.host),
      token,
      roles,
      readWithoutToken: options.readWithoutToken,
      advertisedHost: options.advertisedHost,
    }),
    limits: httpLimits(options.limits),
    timer,
    answerTo: refusalAnswer,
    onError,
  });
  const host = options.advertisedHost ?? reachableHost(address.host);
  const url = httpUrl({ ...server.address, host });
  router.add(
    readable(
      observeRoutes({
        version,
        timer,
        wallClock,
        events,
        addition,
        gateway: broker && observedGateway(broker),
        collect: processMetrics({ gateway: broker, events, addition, timer }),
        notReady: () => broker?.notReady() ?? addition.notReady(),
      }),
    ),
  );
  const placeOf = placesIn(options.placeOf);
  router.add(
    broker === undefined
      ? readable(additionRoutes(addition, wallClock))
      : gatewayRoutes(broker, { url, version, wallClock, placeOf, addition }),
  );
  router.add(readable(addition.routes));
  router.add(routes);
  return { url, close: () => server.close() };
}

interface GatewayRoutesWorld {
  readonly url: string;
  readonly version: string;
  readonly wallClock: Clock;
  readonly placeOf: PlaceOf;
  readonly addition: AdminAddition;
}

function gatewayRoutes(
  gateway: AdministrableGateway,
  { url, version, wallClock, placeOf, addition }: GatewayRoutesWorld,
): readonly Route[] {
  const { administered, urls: given } = gateway;
  const embedded = embeddedOf(gateway);
  const urls = {
    broker: given.find((one) => one.startsWith("pulsar://")),
    brokerTls: given.find((one) => one.startsWith("pulsar+ssl://")),
    http: url,
  };
  return [
    ...(embedded === undefined
      ? []
      : pulsarRoutes({ ...embedded, wallClock, cluster: CLUSTER, version, urls: () => urls })),
    ...readable(limitRoutes(administered, placeOf, addition)),
    ...readable(whyRoutes(administered, embedded?.broker, { wallClock, placeOf, addition })),
  ];
}

/** The routes of limits and waits in a process without a gateway. */
function additionRoutes(addition: AdminAddition, wallClock: Clock): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/limits",
      handle: () =>
        json({ limits: [], dispatch: [], subscribe: [], leftOut: 0, ...addition.limits() }),
    },
    {
      method: "GET",
      path: "/api/why",
      handle: (request) => {
        request.requireKnownQuery(["name"]);
        const at = formatWallTime(wallClock.now());
        const name = request.query("name");
        if (name !== undefined && !addition.knows(name))
          throw nothingCalled(name, addition.names());
        return json({ at, waiting: [], paused: [], ...addition.why(name) });
      },
    },
  ];
}

/** Beyond this machine, any client that reaches the port could delete every topic. */
function requireToken(host: string, token: string | undefined, hasRoles: boolean): void {
  if (token !== undefined && token.length < TOKEN_LENGTH_MIN)
    throw new ConfigError(
      `the token of the administration has ${token.length} characters; use at least ${TOKEN_LENGTH_MIN}`,
    );
  if (isLoopback(host) || token !== undefined || hasRoles) return;
  throw new ConfigError(
    `the administration on ${host} needs a token: beyond 127.0.0.1 a caller must prove who it is`,
  );
}
