/** The gate as an interceptor for undici 7: for its clients, pools and agents, and for `fetch`. */
import { requireKnownKeys } from "@sluice/core/internal";
import type { Dispatcher } from "undici";
import { NO_OPTIONS } from "./gate/options/call-options.ts";
import type { CallOptions } from "./gate/options/call-options.ts";
import { GateMap } from "./gate/gates.ts";
import type { GateKeeping } from "./gate/gates.ts";
import { GATE_KEYS } from "./gate/options/gate-options.ts";
import type { GateOptions } from "./gate/options/gate-options.ts";
import { requireFunction, requireSettings } from "./check-options.ts";
import { ThrottledHandler } from "./http/throttled-handler.ts";

type DispatchOptions = Dispatcher.DispatchOptions;

/** The key of a request, and how many keys are kept. */
export interface DispatchKeys extends GateKeeping {
  /** The key of a request: its origin unless given. Requests of one key share a gate. */
  readonly of?: (options: DispatchOptions) => string;
}

/**
 * As for a gate. For retries there is undici's own interceptor, composed after this one: so it
 * stands around it, and each attempt passes the gate.
 */
export interface ThrottleOptions extends Omit<GateOptions, "retry"> {
  /** Which requests share a gate. Default: those of one origin. */
  readonly keys?: DispatchKeys;
  /**
   * What every request asks of its gate, or what each one does. Its signal counts besides the request's.
   * Default: the defaults of `CallOptions`.
   */
  readonly call?: CallOptions | ((options: DispatchOptions) => CallOptions);
}

/** An interceptor, and the gates behind it. */
export interface ThrottleInterceptor {
  (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch;
  /** One per key. Closing them refuses the requests that wait and that come. */
  readonly gates: GateMap;
}

/** A retry is undici's own interceptor: the option would do nothing here. */
const KEYS: ReadonlySet<string> = new Set(
  ["keys", "call", ...GATE_KEYS].filter((key) => key !== "retry"),
);

/**
 * `new Agent().compose(throttle({ concurrency: "adaptive" }))`: requests wait for a permit of their
 * origin's gate before they are dispatched, and keep it until their answer is complete. The time
 * until its fields are there is the peer's time of service.
 *
 * A request that is refused, or whose deadline passes, fails through its handler like any other. While
 * a request waits, `dispatch` answers true, for more requests: the bound is `maxWaiting` of the gate.
 */
export function throttle(options: ThrottleOptions = {}): ThrottleInterceptor {
  requireSettings("the options of throttle", options, 'rate: "10/s"');
  requireKnownKeys("throttle", options, KEYS);
  const { keys = {}, call = NO_OPTIONS, ...gate } = options;
  requireSettings("keys", keys, "of: ({ path }) => path");
  requireFunction("keys.of", keys.of);
  const { of: keyOf = originOf, ...keeping } = keys;
  const gates = new GateMap({ ...keeping, gate });
  const intercept =
    (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch =>
    (request, handler) => {
      const callOptions = typeof call === "function" ? call(request) : call;
      const throttled = new ThrottledHandler(handler);
      return throttled.send(gates.for(keyOf(request)), callOptions, () =>
        dispatch(request, throttled),
      );
    };
  return Object.assign(intercept, { gates });
}

function originOf({ origin }: DispatchOptions): string {
  return origin === undefined ? "undici" : String(origin);
}
