import { SluiceError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import type { Command, CommandBodies } from "../../wire/command.ts";
import { FrameDecoder } from "../../wire/frame-decoder.ts";
import { decodeFrame, encodeFrame, FRAME_PADDING_BYTES } from "../../wire/frame.ts";
import { abortable } from "../wait/abortable.ts";
import { Alarm } from "../wait/alarm.ts";
import { ask } from "./ask.ts";
import { AttachedSet } from "../attachment/attached.ts";
import type { Attached } from "../attachment/attached.ts";
import type { Question } from "./ask.ts";
import type { Authentication } from "../api/authentication.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { ConnectionSession } from "./connection-session.ts";
import type { Greeting, SessionEffect } from "./connection-session.ts";
import { addressName, targetName } from "./connection-target.ts";
import type { ConnectionTarget } from "./connection-target.ts";
import { deferred } from "../wait/deferred.ts";
import type { Deferred } from "../wait/deferred.ts";
import type { AttachmentRole, EventListener } from "../api/event.ts";
import { closedEarly, notABroker } from "../error/handshake-trouble.ts";
import type { AnswerKind } from "./request-table.ts";
import { withTimeLimit } from "../wait/time-limit.ts";
import type { Dial, Transport, TransportListener } from "./transport.ts";

/** A handshake needs no more, and a peer that has not shown who it is gets no more. */
const HANDSHAKE_FRAME_BYTES_MAX = 65_536;

/** What is written to a peer that reads nothing before it is given up. */
const HELD_BYTES_MAX = 16 * 1_048_576;

/** What connections are made with. */
export interface ConnectionMeans {
  readonly timer: Timer;
  readonly dial: Dial;
  readonly authentication: Authentication;
  readonly emit: EventListener;
}

export interface ConnectionOptions {
  /** For the network and the handshake together. */
  readonly connectTimeoutMs: number;
  readonly operationTimeoutMs: number;
  readonly keepAliveMs: number;
}

export type RequestOptions = Pick<Question<AnswerKind>, "signal" | "onHold">;

/** One connection to a broker, shared by all that have to do with that broker. */
export class Connection {
  readonly target: ConnectionTarget;
  readonly #means: ConnectionMeans;
  readonly #session: ConnectionSession;
  readonly #decoder = new FrameDecoder({ frameBytesMax: HANDSHAKE_FRAME_BYTES_MAX });
  readonly #alarm: Alarm;
  readonly #greeted: Deferred<void> = deferred();
  readonly #attached = new AttachedSet();
  #transport: Transport | undefined;
  #greeting: Greeting = { serverVersion: "", protocolVersion: 0, messageBytesMax: 0 };
  #isOpen = false;
  #isWritable = true;
  /** Written since it is not writable. */
  #heldBytes = 0;
  #isAuthenticating = false;
  #closedBecause: SluiceError | undefined;
  #onClosed: () => void = () => undefined;

  private constructor(
    target: ConnectionTarget,
    means: ConnectionMeans,
    options: ConnectionOptions,
  ) {
    const { operationTimeoutMs, keepAliveMs } = options;
    const { proxyTo } = target;
    this.target = target;
    this.#means = means;
    this.#session = new ConnectionSession(
      {
        authMethodName: means.authentication.methodName,
        proxyToBrokerUrl: proxyTo === undefined ? undefined : addressName(proxyTo),
        operationTimeoutMs,
        keepAliveMs,
      },
      means.timer.now(),
    );
    this.#alarm = new Alarm(means.timer, (nowMs) => this.#onDue(nowMs));
    // Whoever opens waits for it; a connection that is closed before has nobody to tell.
    this.#greeted.promise.catch(() => undefined);
  }

  /**
   * Resolves once the handshake is done. Rejects with a `ConnectionError`, a `DeadlineError`, the
   * `BrokerError` of a broker that does not want us, or the signal's reason.
   */
  static async open(
    target: ConnectionTarget,
    means: ConnectionMeans,
    { signal, ...options }: ConnectionOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<Connection> {
    const connection = new Connection(target, means, options);
    const what = `connecting to ${targetName(target)}`;
    await withTimeLimit(means.timer, { ms: options.connectTimeoutMs, signal, what }, (limit) =>
      connection.#shakeHands(limit),
    );
    return connection;
  }

  /** False from the moment it is lost or closed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** False while more is written than the network takes. SENDs wait then; small commands need not. */
  get isWritable(): boolean {
    return this.#isWritable;
  }

  /** The largest payload that the broker takes. */
  get messageBytesMax(): number {
    return this.#greeting.messageBytesMax;
  }

  get protocolVersion(): number {
    return this.#greeting.protocolVersion;
  }

  get serverVersion(): string {
    return this.#greeting.serverVersion;
  }

  /** Sends what `make` makes of a new request id, and waits for the answer of that kind. */
  async request<Kind extends AnswerKind>(
    expects: Kind,
    make: (requestId: bigint) => Command,
    options: RequestOptions = {},
  ): Promise<CommandBodies[Kind]> {
    if (!this.#isOpen) throw this.#closedBecause ?? new ConnectionError("it is not open yet");
    const question = { expects, nowMs: this.#means.timer.now(), ...options };
    return ask(this.#session.requests, question, (requestId) => {
      this.send(make(requestId));
      this.#alarm.set(this.#session.dueAtMs);
    });
  }

  /** An id for a request whose answer nobody waits for. */
  takeRequestId(): bigint {
    return this.#session.requests.takeId();
  }

  /** Does nothing on a connection that is lost. */
  send(command: Command): void {
    this.write(encodeFrame(command));
  }

  /** Bytes of whole frames; they may come in parts, one right after the other. */
  write(bytes: Uint8Array): void {
    if (!this.#isWritable) this.#hold(bytes.length);
    if (this.#transport?.write(bytes) === false) this.#isWritable = false;
  }

  /** Commands for the producer or consumer with this id go to `attached` from now on. */
  attach(role: AttachmentRole, id: bigint, attached: Attached): void {
    this.#attached.add(role, id, attached);
  }

  detach(role: AttachmentRole, id: bigint): void {
    this.#attached.delete(role, id);
  }

  /** Calls back once when the connection is gone, for whatever reason; at once if it is. */
  whenClosed(callback: () => void): void {
    if (this.#isOpen) this.#onClosed = callback;
    else callback();
  }

  /** All that is under way fails with `reason`; everybody attached is told. */
  close(reason: SluiceError): void {
    if (this.#closedBecause !== undefined) return;
    this.#closedBecause = reason;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#alarm.clear();
    this.#transport?.close();
    this.#transport = undefined;
    this.#greeted.reject(reason);
    this.#session.requests.failAll(reason);
    if (wasOpen) this.#emit({ type: "disconnected", reason });
    this.#onClosed();
    this.#attached.lose(reason);
  }

  async #shakeHands(signal: AbortSignal): Promise<void> {
    const { dial, authentication } = this.#means;
    const transport = await dial(this.target.endpoint, signal);
    const onAbort = (): void => this.close(asError(signal.reason));
    try {
      signal.throwIfAborted();
      this.#transport = transport;
      transport.start(this.#listener());
      signal.addEventListener("abort", onAbort);
      const data = await abortable(authentication.data(), signal);
      this.send(this.#session.hello(data));
      await this.#greeted.promise;
    } catch (error) {
      this.close(asError(error));
      transport.close();
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #listener(): TransportListener {
    return {
      onData: (bytes) => this.#onData(bytes),
      onDrain: () => this.#onDrain(),
      onClose: (cause) => {
        const name = targetName(this.target);
        const lost = new ConnectionError(`the connection to ${name} was lost`, { cause });
        this.close(this.#isOpen ? lost : closedEarly(this.target, cause));
      },
    };
  }

  #onData(bytes: Buffer): void {
    const nowMs = this.#means.timer.now();
    this.#decoder.push(bytes);
    try {
      while (this.#closedBecause === undefined) {
        const bytesOfFrame = this.#decoder.next();
        if (bytesOfFrame === undefined) break;
        const frame = decodeFrame(bytesOfFrame);
        const effect = this.#session.onFrame(frame, nowMs);
        if (effect.kind === "deliver")
          this.#attached.get(effect.role, effect.id)?.onCommand(frame.command, frame.entry);
        else this.#apply(effect);
      }
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      this.close(this.#isOpen ? error : notABroker(this.target, error));
    }
    if (this.#isOpen) this.#alarm.set(this.#session.dueAtMs);
  }

  #onDrain(): void {
    this.#isWritable = true;
    this.#heldBytes = 0;
    this.#attached.onDrain(() => this.#isWritable);
  }

  #onDue(nowMs: number): void {
    this.#apply(this.#session.onDue(nowMs));
    if (this.#isOpen) this.#alarm.set(this.#session.dueAtMs);
  }

  #apply(effect: SessionEffect): void {
    // A peer that asks for PONGs and reads none must not make them pile up.
    if (effect.kind === "send" && this.#isWritable) this.send(effect.command);
    else if (effect.kind === "authenticate") void this.#authenticate();
    else if (effect.kind === "greet") this.#onGreeting(effect.greeting);
    else if (effect.kind === "close") this.close(effect.reason);
  }

  #onGreeting(greeting: Greeting): void {
    this.#greeting = greeting;
    this.#decoder.frameBytesMax = greeting.messageBytesMax + FRAME_PADDING_BYTES;
    this.#isOpen = true;
    this.#emit({ type: "connected", serverVersion: greeting.serverVersion });
    this.#greeted.resolve();
  }

  /** SENDs wait for the network. Small commands do not, and a peer may provoke them. */
  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes > HELD_BYTES_MAX)
      this.close(new ConnectionError(`${targetName(this.target)} does not read what it is sent`));
  }

  /** One at a time: a peer that asks again meanwhile gets the same answer. */
  async #authenticate(): Promise<void> {
    if (this.#isAuthenticating) return;
    this.#isAuthenticating = true;
    try {
      const data = await this.#means.authentication.data();
      this.send(this.#session.authResponse(data));
    } catch (error) {
      this.close(asError(error));
    } finally {
      this.#isAuthenticating = false;
    }
  }

  #emit(
    happening:
      | { readonly type: "connected"; readonly serverVersion: string }
      | { readonly type: "disconnected"; readonly reason: SluiceError },
  ): void {
    const { timer, emit } = this.#means;
    emit({ ...happening, address: targetName(this.target), atMs: timer.now() });
  }
}

function asError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  return new ConnectionError("the connection was given up", { cause: error });
}
