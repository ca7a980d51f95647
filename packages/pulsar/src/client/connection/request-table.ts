import type { SluiceError } from "@sluice/core";
import type { CommandBodies, CommandOf } from "../../wire/command.ts";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { brokerErrorOf } from "../error/broker-error.ts";
import { DeadlineError } from "../error/deadline-error.ts";

/** The commands that answer a request by its id. */
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

/** The call that waits for an answer. */
export interface Requester {
  readonly expects: AnswerKind;
  resolve(body: CommandBodies[AnswerKind]): void;
  reject(error: unknown): void;
  /** The broker queued the request (producerReady is false): the deadline is lifted. */
  onHold?: (() => void) | undefined;
}

interface Request {
  readonly requester: Requester;
  readonly deadlineAtMs: number;
}

/**
 * The requests of one connection that wait for an answer. All have the same timeout, so the map is in
 * the order of deadlines; requests on hold have none.
 */
export class RequestTable {
  readonly #timeoutMs: number;
  readonly #requests = new Map<bigint, Request>();
  readonly #held = new Map<bigint, Requester>();
  #nextId = 1n;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** When `expire` is due; undefined if no request has a deadline. */
  get dueAtMs(): number | undefined {
    for (const { deadlineAtMs } of this.#requests.values()) return deadlineAtMs;
    return undefined;
  }

  /** A request id that was not used before. */
  takeId(): bigint {
    return this.#nextId++;
  }

  add(requester: Requester, nowMs: number): bigint {
    const id = this.takeId();
    this.#requests.set(id, { requester, deadlineAtMs: nowMs + this.#timeoutMs });
    return id;
  }

  /** The caller does not wait any more. */
  forget(id: bigint): void {
    this.#requests.delete(id);
    this.#held.delete(id);
  }

  /** An answer without a request is ignored: its caller may have given up. */
  onAnswer({ kind, body }: CommandOf<AnswerKind>): void {
    // Only ACK_RESPONSE may come without a request id.
    const id = body.requestId;
    const requester = id === undefined ? undefined : this.#find(id);
    if (id === undefined || requester === undefined) return;
    if (requester.expects !== kind)
      throw new ProtocolError(
        `the broker answered request ${id} with ${kind} instead of ${requester.expects}`,
      );
    if (kind === "producerSuccess" && body.producerReady === false) {
      this.#requests.delete(id);
      this.#held.set(id, requester);
      requester.onHold?.();
      return;
    }
    this.forget(id);
    requester.resolve(body);
  }

  onError(id: bigint, error: number, message: string): void {
    const requester = this.#find(id);
    this.forget(id);
    requester?.reject(brokerErrorOf(error, message));
  }

  /** Rejects requests whose deadline has passed. */
  expire(nowMs: number): void {
    for (const [id, { requester, deadlineAtMs }] of this.#requests) {
      if (nowMs < deadlineAtMs) return;
      this.#requests.delete(id);
      requester.reject(
        new DeadlineError(
          `the broker did not answer with ${requester.expects} within operationTimeoutMs, ${this.#timeoutMs} ms`,
        ),
      );
    }
  }

  failAll(error: SluiceError): void {
    const requesters = [...this.#requests.values()].map(({ requester }) => requester);
    requesters.push(...this.#held.values());
    this.#requests.clear();
    this.#held.clear();
    for (const requester of requesters) requester.reject(error);
  }

  #find(id: bigint): Requester | undefined {
    return this.#requests.get(id)?.requester ?? this.#held.get(id);
  }
}
