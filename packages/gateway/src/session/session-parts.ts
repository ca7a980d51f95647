import { Handshake } from "./connection/handshake.ts";
import { Consumers } from "./consumer/consumers.ts";
import type { Outbox } from "./effect.ts";
import { Producers } from "./producer/producers.ts";
import { Requests } from "./request/requests.ts";
import type { SessionContext } from "./session-context.ts";

/** The parts of a session that serve commands, made when first used: most connections are idle. */
export class SessionParts {
  readonly outbox: Outbox;
  readonly handshake: Handshake;
  readonly #context: SessionContext;
  #producers: Producers | undefined;
  #consumers: Consumers | undefined;
  #requests: Requests | undefined;

  constructor(context: SessionContext, nowMs: number) {
    this.#context = context;
    this.outbox = context.outbox;
    this.handshake = new Handshake(context, nowMs);
  }

  get producers(): Producers {
    this.#producers ??= new Producers(this.#context);
    return this.#producers;
  }

  get producerCount(): number {
    return this.#producers?.size ?? 0;
  }

  get consumers(): Consumers {
    this.#consumers ??= new Consumers(this.#context);
    return this.#consumers;
  }

  get consumerCount(): number {
    return this.#consumers?.size ?? 0;
  }

  get requests(): Requests {
    this.#requests ??= new Requests(this.#context);
    return this.#requests;
  }

  /** The connection is gone. */
  endAll(): void {
    this.#producers?.endAll();
    this.#consumers?.endAll();
  }
}
