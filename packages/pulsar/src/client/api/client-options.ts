import { ConfigError } from "@sluice/core";
import type { Clock, Random, Timer } from "@sluice/core";
import { requireDuration, requireKnownKeys } from "@sluice/core/internal";
import { systemRandom, systemTimer, systemWallClock } from "@sluice/core/system";
import { ThrottleCodec } from "../../wire/throttle.ts";
import type { ThrottleNumbers } from "../../wire/throttle.ts";
import { NO_AUTHENTICATION } from "../authentication/authentication.ts";
import type { Authentication } from "../authentication/authentication.ts";
import { tokenAuthentication } from "../authentication/ready-methods.ts";
import type { Token } from "../authentication/ready-methods.ts";
import type { ConnectionOptions } from "../connection/connection.ts";
import { createSocketDial } from "../connection/socket-transport.ts";
import type { TlsOptions } from "../connection/socket-transport.ts";
import type { Dial } from "../connection/transport.ts";
import type { EventListener } from "../event/client-event.ts";
import type { ClusterDependencies } from "../lookup/cluster.ts";
import { requireOptions } from "../check/arguments.ts";

export interface ClientOptions {
  /** Short for `authentication: tokenAuthentication(token)`. Default: none. */
  readonly token?: Token | undefined;
  /** The authentication method. Default: none. */
  readonly authentication?: Authentication | undefined;
  /** For pulsar+ssl:// URLs. Default: the CAs of Node, no certificate. */
  readonly tls?: TlsOptions | undefined;
  /** For network and handshake of one connection. @default 10000 */
  readonly connectTimeoutMs?: number | undefined;
  /** For each request to a broker, and for the first attempts to attach. @default 30000 */
  readonly operationTimeoutMs?: number | undefined;
  /** Time between two PINGs; a broker that is silent for twice as long is given up. @default 30000 */
  readonly keepAliveMs?: number | undefined;
  /**
   * Whether brokers may tell producers to pause (PIP-385), and the numbers of its commands and flag, which
   * must be the broker's. False announces nothing and ignores the commands. @default true
   */
  readonly throttle?: boolean | Partial<ThrottleNumbers> | undefined;
  /** Called for every `ClientEvent`. Default: none. */
  readonly onEvent?: EventListener | undefined;
  /** Clocks, randomness and network; real unless given. Tests run a client in virtual time with these. */
  readonly dependencies?: Partial<ClientDependencies> | undefined;
}

/** Everything that a client uses from outside the program. */
export interface ClientDependencies {
  readonly timer: Timer;
  /** For the publish time of messages only. */
  readonly wallClock: Clock;
  readonly random: Random;
  readonly dial: Dial;
}

const KNOWN: ReadonlySet<string> = new Set<keyof ClientOptions>([
  "token",
  "authentication",
  "tls",
  "connectTimeoutMs",
  "operationTimeoutMs",
  "keepAliveMs",
  "throttle",
  "onEvent",
  "dependencies",
]);
const KNOWN_OF_TLS: ReadonlySet<string> = new Set<keyof TlsOptions>([
  "ca",
  "cert",
  "key",
  "dangerouslyAllowAnyCertificate",
]);
const KNOWN_OF_DEPENDENCIES: ReadonlySet<string> = new Set<keyof ClientDependencies>([
  "timer",
  "wallClock",
  "random",
  "dial",
]);

const CONNECT_TIMEOUT_MS = 10_000;
const OPERATION_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 30_000;

const EXAMPLE = 'connect("pulsar://localhost:6650", { token: "…" })';

/** Checks the options and adds the defaults. */
export function resolveClientOptions(options: ClientOptions): {
  readonly dependencies: ClusterDependencies;
  readonly connection: ConnectionOptions;
  readonly isTlsRequired: boolean;
} {
  requireOptions("the options of connect", options, EXAMPLE);
  requireKnownKeys("connect", options, KNOWN);
  const { tls = {}, dependencies = {}, throttle = true, onEvent = ignoreEvent } = options;
  requireOptions("tls", tls, '{ tls: { ca: readFileSync("ca.pem") } }');
  requireKnownKeys("tls", tls, KNOWN_OF_TLS);
  requireOptions("dependencies", dependencies, "{ dependencies: { timer } }");
  requireKnownKeys("dependencies", dependencies, KNOWN_OF_DEPENDENCIES);
  if (typeof onEvent !== "function")
    throw new ConfigError(
      `onEvent is of type ${typeof onEvent}; use a function, as in (event) => console.log(event)`,
    );
  const {
    timer = systemTimer,
    wallClock = systemWallClock,
    random = systemRandom,
    dial = createSocketDial(tls),
  } = dependencies;
  const authentication = authenticationOf(options);
  const isTlsRequired = authentication.methodName === "tls";
  if (isTlsRequired && (tls.cert === undefined || tls.key === undefined))
    throw new ConfigError(
      "tlsAuthentication needs a client certificate; set tls: { cert, key } to the content of its PEM files",
    );
  const emit = guarded(onEvent);
  return {
    dependencies: { timer, wallClock, random, dial, authentication, emit },
    connection: { ...timesOf(options), throttle: throttleOf(throttle) },
    isTlsRequired,
  };
}

function authenticationOf({ token, authentication }: ClientOptions): Authentication {
  if (authentication === undefined)
    return token === undefined ? NO_AUTHENTICATION : tokenAuthentication(token);
  if (token !== undefined)
    throw new ConfigError("token and authentication are both set; use one of them");
  const example =
    "use tokenAuthentication, basicAuthentication, tlsAuthentication, oauth2Authentication";
  requireOptions(
    "authentication",
    authentication,
    "{ authentication: tokenAuthentication(token) }",
  );
  const { methodName } = authentication;
  if (typeof methodName !== "string" || methodName === "")
    throw new ConfigError(`authentication has no methodName; ${example}, or an object with one`);
  if (typeof authentication.credentials !== "function")
    throw new ConfigError(`authentication has no credentials function; ${example}, or write one`);
  if (authentication.refresh !== undefined && typeof authentication.refresh !== "function")
    throw new ConfigError(
      "authentication.refresh must be a function; leave it out if there is none",
    );
  return authentication;
}

function throttleOf(throttle: boolean | Partial<ThrottleNumbers>): ThrottleCodec | undefined {
  if (throttle === false) return undefined;
  if (throttle === true) return new ThrottleCodec();
  requireOptions(
    "throttle",
    throttle,
    "{ throttle: false } or { throttle: { featureFlag: 1001 } }",
  );
  return new ThrottleCodec(throttle);
}

function timesOf(options: ClientOptions): Omit<ConnectionOptions, "throttle"> {
  const {
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
    operationTimeoutMs = OPERATION_TIMEOUT_MS,
    keepAliveMs = KEEP_ALIVE_MS,
  } = options;
  const times = { connectTimeoutMs, operationTimeoutMs, keepAliveMs };
  for (const [name, ms] of Object.entries(times)) requireDuration(name, ms, 1);
  return times;
}

function ignoreEvent(): void {}

/** An error of the listener must not break the client, so it is ignored. */
function guarded(listener: EventListener): EventListener {
  return (event) => {
    try {
      const result: unknown = listener(event);
      // The listener may be an async function, whatever its type says.
      if (result instanceof Promise) result.catch(() => undefined);
    } catch {
      // Ignored, as documented at `EventListener`.
    }
  };
}
