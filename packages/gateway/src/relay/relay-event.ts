import type { Reason } from "@sluice/core";
import type { CommandBodies } from "@sluice/pulsar/wire";
import type { ThrottleNotice } from "../ingress/notices/aware-connection.ts";
import type { ConnectionEvent } from "../session/session-event.ts";
import type { BrokerFrame, ClientFrame, SendFrame } from "./relay-commands.ts";
import type { Target } from "./target.ts";

/** Everything that can happen to a relay. Plain values, so that a relay can be replayed. */
export type RelayEvent =
  /** A frame of the client, only while `isReading` is true. */
  | { readonly kind: "frame"; readonly frame: ClientFrame }
  /** Other events of the client's connection. */
  | Exclude<ConnectionEvent, { readonly kind: "frame" }>
  /** `answerBytes` of answers were written; the client has not taken `unreadBytes` in all. */
  | { readonly kind: "written"; readonly answerBytes: number; readonly unreadBytes: number }
  /** There is a connection to a broker. `names` are all the addresses that it is known by. */
  | { readonly kind: "upstreamConnected"; readonly names: readonly Target[] }
  | { readonly kind: "upstreamFailed"; readonly reason: string }
  /** Only while `isReadingUpstream` is true. */
  | { readonly kind: "upstreamFrame"; readonly frame: BrokerFrame }
  | { readonly kind: "upstreamDrained"; readonly isWithinFrame: boolean }
  | { readonly kind: "upstreamWritten"; readonly unreadBytes: number }
  | { readonly kind: "upstreamTaken"; readonly unreadBytes: number }
  | { readonly kind: "upstreamClosed"; readonly reason: string }
  /** The last answer to a lookup that was redirected. */
  | { readonly kind: "followed"; readonly answer: CommandBodies["lookupResponse"] }
  /** A SEND that was held may go. `producer` is the key that it was held under. */
  | { readonly kind: "released"; readonly producer: number; readonly frame: SendFrame }
  /** So many permits of a limited consumer may go. `consumer` is its key. */
  | { readonly kind: "permitted"; readonly consumer: number; readonly permits: number }
  /** The client must not be read for this reason; other reasons may hold as well. */
  | { readonly kind: "throttled"; readonly reason: Reason }
  | { readonly kind: "unthrottled"; readonly reason: Reason }
  /** Tell the client, which knows the throttle commands. */
  | { readonly kind: "notice"; readonly notice: ThrottleNotice }
  /** The client has broken a rule of the throttle commands. */
  | { readonly kind: "violated"; readonly reason: string }
  /** The time that `Relay.dueAtMs` named has come. */
  | { readonly kind: "tick" }
  /** The client is gone, or is to go. */
  | { readonly kind: "end" };
