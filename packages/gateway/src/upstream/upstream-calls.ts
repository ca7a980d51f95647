import { LOOKUP_RESULT, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import type { BrokerObserver } from "../observe/broker-event.ts";
import { plainText } from "../refusal/refusal.ts";
import { targetName } from "../relay/target.ts";
import type { Target } from "../relay/target.ts";
import type { DialedBroker, Dialer } from "./dialer.ts";
import type { LookupFollower, RedirectedLookup } from "./lookup-follower.ts";
import { RefusedTargetError, UpstreamError } from "./upstream-error.ts";
import type { UpstreamWatch } from "./upstream-watch.ts";

export interface CallWorld {
  readonly dialer: Dialer;
  readonly follower: LookupFollower;
  readonly watch: UpstreamWatch;
  readonly observe: BrokerObserver;
}

/** Calls brokers for one client. What fails is told to the observer; what comes too late is undefined. */
export class UpstreamCalls {
  readonly #address: string;
  readonly #world: CallWorld;

  /** `address` is the client's. */
  constructor(address: string, world: CallWorld) {
    this.#address = address;
    this.#world = world;
  }

  async dial(
    target: Target | undefined,
    signal: AbortSignal,
  ): Promise<DialedBroker | { readonly reason: string } | undefined> {
    try {
      const dialed = await this.#world.dialer.dial(target, signal);
      if (!signal.aborted) return dialed;
      dialed.socket.on("error", () => {}).destroy();
      return undefined;
    } catch (error) {
      return signal.aborted ? undefined : { reason: this.#report(target, error) };
    }
  }

  async follow(
    redirected: RedirectedLookup,
    signal: AbortSignal,
  ): Promise<CommandBodies["lookupResponse"] | undefined> {
    try {
      const answer = await this.#world.follower.follow(redirected, signal);
      return signal.aborted ? undefined : answer;
    } catch (error) {
      if (signal.aborted) return undefined;
      return {
        requestId: redirected.lookup.requestId,
        response: LOOKUP_RESULT.failed,
        error: SERVER_ERROR.ServiceNotReady,
        message: plainText(this.#report(redirected.target, error)),
      };
    }
  }

  /** Answers the reason. */
  #report(target: Target | undefined, error: unknown): string {
    const { watch, observe } = this.#world;
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof RefusedTargetError)
      observe({
        kind: "target-refused",
        address: this.#address,
        target: plainText(target === undefined ? "service URL" : targetName(target)),
        reason: plainText(reason),
      });
    else if (error instanceof UpstreamError) watch.onUnreachable(target, reason);
    return reason;
  }
}
