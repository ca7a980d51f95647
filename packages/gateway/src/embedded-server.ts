import type { TokenAuthenticator } from "./auth/token-authenticator.ts";
import type { Broker } from "./broker/broker.ts";
import type { BrokerWorld } from "./broker-world.ts";
import { Dispatch } from "./ingress/dispatch/dispatch.ts";
import { Ingress } from "./ingress/ingress.ts";
import { throttleCodec } from "./ingress/settings.ts";
import type { IngressSettings } from "./ingress/settings.ts";
import type { CountedByteBudget } from "./memory/counted-byte-budget.ts";
import type { BrokerObserver } from "./observe/broker-event.ts";
import { EmbeddedBackend } from "./server/embedded/embedded-backend.ts";
import { keepPublish } from "./server/embedded/held-publish.ts";
import type { HeldPublish } from "./server/embedded/held-publish.ts";
import { createMemory } from "./server/front.ts";
import { Server } from "./server/server.ts";
import { allReleasing } from "./server/socket/turns/ingress-turns.ts";
import type { SessionFacts } from "./session/session-context.ts";

export interface EmbeddedServerOptions {
  readonly limits?: IngressSettings | undefined;
  /** 256 MiB unless given. */
  readonly memoryBytesMax?: number | undefined;
  readonly observe: BrokerObserver;
  /** Something began to wait, or was told to. */
  readonly onDecision?: () => void;
}

/** What a server serves, and to which clients. */
interface Served {
  readonly broker: Broker;
  readonly facts: Omit<SessionFacts, "throttle">;
  readonly authenticator: TokenAuthenticator | undefined;
}

/** A server that knows its limits and has no broker yet. */
export interface EmbeddedServer {
  readonly memory: CountedByteBudget;
  readonly ingress: Ingress<HeldPublish>;
  readonly dispatch: Dispatch;
  /** The server, which listens nowhere: sockets are handed to its `accept`. To be called once. */
  serve(served: Served): Server;
}

/** Checks the limits, before anything is opened. */
export function prepareEmbeddedServer(
  options: EmbeddedServerOptions,
  world: BrokerWorld,
): EmbeddedServer {
  const { limits = {}, observe, onDecision = () => {} } = options;
  const memory = createMemory(options, observe);
  const throttle = throttleCodec(limits);
  const nowMs = world.clock.now();
  let server: Server | undefined;
  const onWakeAt = (): void => server?.onWakeAt();
  const ingress = new Ingress<HeldPublish>(limits, {
    memory,
    keep: keepPublish,
    onWakeAt,
    onDecision,
    nowMs,
  });
  const dispatch = new Dispatch(limits, { onWakeAt, nowMs });
  const serve = ({ broker, facts, authenticator }: Served): Server => {
    const { schemas } = broker;
    const shared = { ...world, broker, schemas, memory, authenticator, observe, ingress, dispatch };
    server = new Server({
      ...world,
      memory,
      observe,
      limits: facts.limits,
      ingress: allReleasing([ingress, dispatch]),
      openBackend: (wire) => new EmbeddedBackend(wire, shared, { ...facts, throttle }),
    });
    return server;
  };
  return { memory, ingress, dispatch, serve };
}
