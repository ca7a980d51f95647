import type { SluiceError } from "@sluice/core";
import type { CommandBodies, CommandOf } from "../../wire/command.ts";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { brokerErrorOf } from "../error/broker-error.ts";
import { DeadlineError } from "../error/deadline-error.ts";

/** The commands that answer a request, by the id in them. */
export type AnswerKind =
  | "success"
  | "producerSuccess"
  | "partitionedMetadataResponse"
  | "lookupResponse"
  | "consumerStatsResponse"
  | "getLastMessageIdResponse"
  | "getTopicsOfNamespaceResponse"
  | "getSchemaResponse"
  | "getOrCreateSchemaResponse"
  | "ackResponse";

/** Who asked, and for what. */
export interface Asker {
  readonly expects: AnswerKind;
  resolve(body: CommandBodies[AnswerKind]): void;
  reject(error: unknown): void;
  /** The answer will come, but nobody knows when: there is no deadline any more. */
  onHold?: (() => void) | undefined;
}

interface Request {
  readonly asker: Asker;
  readonly deadlineAtMs: number;
}

/**
 * The requests of one connection that are under way. All have the same time, so that they are in
 * the order of their deadlines; those on hold have none.
 */
export class RequestTable {
  readonly #timeoutMs: number;
  readonly #requests = new Map<bigint, Request>();
  readonly #held = new Map<bigint, Asker>();
  #nextId = 1n;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** When `expire` is due; undefined if nothing is. */
  get dueAtMs(): number | undefined {
    for (const { deadlineAtMs } of this.#requests.values()) return deadlineAtMs;
    return undefined;
  }

  /** An id that no request has. */
  takeId(): bigint {
    return this.#nextId++;
  }

  add(asker: Asker, nowMs: number): bigint {
    const id = this.takeId();
    this.#requests.set(id, { asker, deadlineAtMs: nowMs + this.#timeoutMs });
    return id;
  }

  /** The answer is not wanted any more. */
  forget(id: bigint): void {
    this.#requests.delete(id);
    this.#held.delete(id);
  }

  /** An answer to nobody is ignored: it may have been given up. */
  onAnswer({ kind, body }: CommandOf<AnswerKind>): void {
    // Of all answers only the one to an ACK may have none.
    const id = body.requestId;
    const asker = id === undefined ? undefined : this.#find(id);
    if (id === undefined || asker === undefined) return;
    if (asker.expects !== kind)
      throw new ProtocolError(`request ${id} is answered by ${kind}, not ${asker.expects}`);
    if (kind === "producerSuccess" && body.producerReady === false) {
      this.#requests.delete(id);
      this.#held.set(id, asker);
      asker.onHold?.();
      return;
    }
    this.forget(id);
    asker.resolve(body);
  }

  onError(id: bigint, error: number, message: string): void {
    const asker = this.#find(id);
    this.forget(id);
    asker?.reject(brokerErrorOf(error, message));
  }

  /** Gives up what has taken too long. */
  expire(nowMs: number): void {
    for (const [id, { asker, deadlineAtMs }] of this.#requests) {
      if (nowMs < deadlineAtMs) return;
      this.#requests.delete(id);
      asker.reject(new DeadlineError(`no ${asker.expects} came within ${this.#timeoutMs} ms`));
    }
  }

  failAll(error: SluiceError): void {
    const askers = [...this.#requests.values()].map(({ asker }) => asker);
    askers.push(...this.#held.values());
    this.#requests.clear();
    this.#held.clear();
    for (const asker of askers) asker.reject(error);
  }

  #find(id: bigint): Asker | undefined {
    return this.#requests.get(id)?.asker ?? this.#held.get(id);
  }
}
