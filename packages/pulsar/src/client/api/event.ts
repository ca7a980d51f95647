import type { SluiceError } from "@sluice/core";
import type { MessageId } from "../message/message-id.ts";

interface Happening {
  readonly atMs: number;
}

/** A connection is open and the handshake done. */
export interface Connected extends Happening {
  readonly type: "connected";
  /** `host:port`, and behind a proxy also the broker's. */
  readonly address: string;
  readonly serverVersion: string;
}

/** A connection is gone, by our will or not. */
export interface Disconnected extends Happening {
  readonly type: "disconnected";
  readonly address: string;
  readonly reason: SluiceError;
}

/** A producer or consumer is without a broker and looks for one. */
export interface Detached extends Happening {
  readonly type: "detached";
  readonly role: AttachmentRole;
  readonly topic: string;
  readonly reason: SluiceError;
  /** Until the next attempt. */
  readonly pauseMs: number;
}

/** A producer or consumer that had been detached has a broker again. */
export interface Reattached extends Happening {
  readonly type: "reattached";
  readonly role: AttachmentRole;
  readonly topic: string;
  readonly address: string;
}

/** A producer sent again what had no receipt when its connection was lost. */
export interface Resent extends Happening {
  readonly type: "resent";
  readonly topic: string;
  readonly messages: number;
}

/**
 * A consumer dropped an entry that is not as its producer sent it. The broker is told, and writes it
 * down as acknowledged.
 */
export interface Discarded extends Happening {
  readonly type: "discarded";
  readonly topic: string;
  readonly messageId: MessageId;
  readonly reason: SluiceError;
}

export type AttachmentRole = "producer" | "consumer";

/** What happens in a client beneath its calls. */
export type ClientEvent = Connected | Disconnected | Detached | Reattached | Resent | Discarded;

/** Hears of everything. What it throws is lost. */
export type EventListener = (event: ClientEvent) => void;
