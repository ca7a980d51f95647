import type { Message } from "../../../message.ts";
import type { CallsInTurn } from "./calls-in-turn.ts";
import { singleBody } from "./request-body.ts";
import type { RequestBody } from "./request-body.ts";

/** A request before it is made, and between its attempts. */
export class PlannedRequest {
  readonly messages: readonly Message[];
  readonly #body: RequestBody | undefined;
  /** The calls among which it has its turn; undefined for a part of a batch that had its turn before. */
  readonly #turns: CallsInTurn | undefined;
  #hasStarted = false;
  /** Whether its messages were sent before: by an earlier attempt, or in a larger batch. */
  isSent = false;

  /** `body`: undefined for a single message, whose body is made for each attempt. */
  constructor(
    messages: readonly Message[],
    body: RequestBody | undefined,
    turns: CallsInTurn | undefined,
  ) {
    this.messages = messages;
    this.#body = body;
    this.#turns = turns;
  }

  /** Throws an `UnsendableError` if a value has no bytes. */
  body(): RequestBody {
    return this.#body ?? singleBody(this.messages[0] as Message, 0);
  }

  /** It waits no more for its first attempt. */
  onStarted(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#turns?.onStarted();
  }
}
