import type { Command } from "@sluice/pulsar/wire";
import type { ConnectionEvent } from "../session/session-event.ts";

/** What a backend may do to its connection. Nothing here calls the backend back at once. */
export interface Wire {
  /** The peer, as "host:port". */
  readonly address: string;
  /** Bytes that were sent and that the peer has not taken. */
  readonly unreadBytes: number;
  /** Sends a frame and answers its size. An entry must not change from here on. */
  send(command: Command, entry?: Buffer): number;
  /** Sends a whole frame as it is. It must not change from here on. */
  forward(frame: Buffer): number;
  /** Sends what is left to send, then ends the connection. */
  close(reason: string): void;
  /** `isReading` or `hasWork` has changed. */
  wake(): void;
  setFrameBytesMax(bytes: number): void;
}

/**
 * What serves one connection: the embedded broker, or a relay to a cluster. It is told what happens
 * on the connection and carries out what follows from it.
 */
export interface Backend {
  /** Whether the next frame may be handed over; asked before every frame. */
  readonly isReading: boolean;
  /** Whether an earlier event left work to do. No frame is handed over before it is done. */
  readonly hasWork: boolean;
  /** When `tick` is next needed; may move with every event. */
  readonly dueAtMs: number;
  readonly producers: number;
  readonly consumers: number;
  readonly pendingSends: number;
  /** Memory of SENDs that are held or on their way, and of what the other side has sent or not taken. */
  readonly keptBytes: number;
  receive(event: ConnectionEvent, nowMs: number): void;
  /** Does one small part of the work that is left. */
  work(nowMs: number): void;
  tick(nowMs: number): void;
  /** The connection is gone. Work may be left to do. `isShed`: memory is needed, so what was not sent on is dropped. */
  end(nowMs: number, isShed?: boolean): void;
}

/** Makes the backend of a new connection. */
export type OpenBackend = (wire: Wire, nowMs: number) => Backend;
