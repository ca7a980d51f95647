import type { CommandBodies } from "@sluice/pulsar/wire";
import type { Target } from "./target.ts";

/**
 * What a relay wants done, in this order. Frames are bytes: most of them are those that have arrived,
 * the others were encoded here.
 */
export type RelayEffect =
  /** `isAnswer`: the frame was made here, so that a client which does not read can be made to stop. */
  | { readonly kind: "toClient"; readonly bytes: Buffer; readonly isAnswer: boolean }
  | { readonly kind: "toUpstream"; readonly bytes: Buffer }
  /** Connect to this broker; without a target, to an address of the service URL. */
  | { readonly kind: "dial"; readonly target: Target | undefined }
  | { readonly kind: "closeUpstream" }
  /** After what was sent to the client before. Nothing is wanted after it. */
  | { readonly kind: "close"; readonly reason: string }
  /** `Relay.isReading` has changed. */
  | { readonly kind: "readingChanged" }
  /** `Relay.isReadingUpstream` has changed. */
  | { readonly kind: "upstreamReadingChanged" }
  /** The largest frame, in both directions. */
  | { readonly kind: "setFrameBytesMax"; readonly bytes: number }
  /** What the commands that wait behind held SENDs keep from now on; they are forgotten with the client. */
  | { readonly kind: "waitingBytes"; readonly bytes: number }
  /** The upstream has named this broker: clients may ask to be connected to it. */
  | { readonly kind: "named"; readonly target: Target }
  /** Ask this broker for the topic, on a connection of its own that begins with the given CONNECT. */
  | {
      readonly kind: "follow";
      readonly connect: Buffer;
      readonly lookup: CommandBodies["lookup"];
      readonly target: Target;
    }
  /** The CONNECTED of an upstream has come. */
  | { readonly kind: "opened" }
  /** The upstream of a client that was let in is gone. */
  | { readonly kind: "upstreamLost"; readonly reason: string }
  /** For the observer: a topic has gone to another cluster. */
  | { readonly kind: "topicMigrated"; readonly topic: string; readonly url: string };

/** Gathers the effects of one event. After the end of a connection only closing has an effect. */
export class RelayOutbox {
  #effects: RelayEffect[] | undefined;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(effect: RelayEffect): void {
    if (this.#isClosed && effect.kind !== "closeUpstream") return;
    // A list of one is as large as that; one that grows from nothing has room for 17.
    if (this.#effects === undefined) this.#effects = [effect];
    else this.#effects.push(effect);
    if (effect.kind === "close") this.#isClosed = true;
  }

  close(reason: string): void {
    this.add({ kind: "close", reason });
  }

  seal(): void {
    this.#isClosed = true;
  }

  take(): readonly RelayEffect[] {
    const effects = this.#effects ?? NONE;
    this.#effects = undefined;
    return effects;
  }
}

const NONE: readonly RelayEffect[] = [];
