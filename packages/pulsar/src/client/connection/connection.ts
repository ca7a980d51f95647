import { SluiceError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { Command, CommandBodies } from "../../wire/command.ts";
import { FrameDecoder } from "../../wire/frame-decoder.ts";
import { decodeFrame, encodeFrame, FRAME_PADDING_BYTES } from "../../wire/frame.ts";
import type { Authentication } from "../authentication/authentication.ts";
import { credentialsOf } from "../authentication/credentials.ts";
import { ConnectionError } from "../error/connection-error.ts";
import type {
  AttachmentRole,
  Connected,
  Disconnected,
  EventListener,
  UnknownCommandReceived,
} from "../event/client-event.ts";
import { Alarm } from "../wait/alarm.ts";
import { deferred } from "../wait/deferred.ts";
import type { Deferred } from "../wait/deferred.ts";
import { withDeadline } from "../wait/with-deadline.ts";
import { AttachedSet } from "./attached.ts";
import type { Attached } from "./attached.ts";
import { ConnectionSession } from "./connection-session.ts";
import type { Greeting, SessionEffect } from "./connection-session.ts";
import { addressName, targetName } from "./connection-target.ts";
import type { ConnectionTarget } from "./connection-target.ts";
import { closedEarly, notABroker } from "./handshake-error.ts";
import { ReplyQueue } from "./reply-queue.ts";
import type { AnswerKind } from "./request-table.ts";
import { request } from "./request.ts";
import type { RequestOptions } from "./request.ts";
import type { Dial, Transport, TransportListener } from "./transport.ts";

export type { RequestOptions } from "./request.ts";

/** Largest frame before CONNECTED, in bytes: the peer is not known to be a broker yet. */
const HANDSHAKE_FRAME_BYTES_MAX = 65_536;

/** Bytes written while not writable, above which the connection is closed: the peer does not read. */
const HELD_BYTES_MAX = 16 * 1_048_576;

export interface ConnectionDependencies {
  readonly timer: Timer;
  readonly dial: Dial;
  readonly authentication: Authentication;
  readonly emit: EventListener;
}

export interface ConnectionOptions {
  /** For network and handshake together. */
  readonly connectTimeoutMs: number;
  readonly operationTimeoutMs: number;
  readonly keepAliveMs: number;
}

/** One connection to a broker, shared by all producers and consumers of that broker. */
export class Connection {
  readonly target: ConnectionTarget;
  readonly #dependencies: ConnectionDependencies;
  readonly #options: ConnectionOptions;
  readonly #session: ConnectionSession;
  readonly #decoder = new FrameDecoder({ frameBytesMax: HANDSHAKE_FRAME_BYTES_MAX });
  readonly #alarm: Alarm;
  readonly #greeted: Deferred<void> = deferred();
  readonly #attached = new AttachedSet();
  readonly #replies = new ReplyQueue();
  readonly #closing = new AbortController();
  #transport: Transport | undefined;
  #greeting: Greeting = { serverVersion: "", protocolVersion: 0, messageBytesMax: 0 };
  #isOpen = false;
  #isWritable = true;
  /** Bytes written since the transport is not writable. */
  #heldBytes = 0;
  #isAuthenticating = false;
  #closedBecause: SluiceError | undefined;
  #onClosed: () => void = () => undefined;

  private constructor(
    target: ConnectionTarget,
    dependencies: ConnectionDependencies,
    options: ConnectionOptions,
  ) {
    const { operationTimeoutMs, keepAliveMs } = options;
    const { timer, authentication } = dependencies;
    const { proxyTo } = target;
    this.target = target;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#session = new ConnectionSession(
      {
        authMethodName: authentication.methodName,
        proxyToBrokerUrl: proxyTo === undefined ? undefined : addressName(proxyTo),
        operationTimeoutMs,
        keepAliveMs,
      },
      timer.now(),
    );
    this.#alarm = new Alarm(timer, (nowMs) => this.#onDue(nowMs));
    // Only `#shakeHands` waits for it; a connection may be closed before.
    this.#greeted.promise.catch(() => undefined);
  }

  /**
   * Resolves once the handshake is done. Rejects with a `ConnectionError`, a `DeadlineError`, the
   * broker's refusal as a `BrokerError`, or the signal's reason.
   */
  static async open(
    target: ConnectionTarget,
    dependencies: ConnectionDependencies,
    { signal, ...options }: ConnectionOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<Connection> {
    const connection = new Connection(target, dependencies, options);
    const what = `connecting to ${targetName(target)}`;
    const deadline = { ms: options.connectTimeoutMs, signal, what };
    await withDeadline(dependencies.timer, deadline, (limit) => connection.#shakeHands(limit));
    return connection;
  }

  /** False once the connection is lost or closed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** False while unsent bytes pile up. SENDs wait then; small commands are written all the same. */
  get isWritable(): boolean {
    return this.#isWritable;
  }

  /** The broker's maxMessageSize. */
  get messageBytesMax(): number {
    return this.#greeting.messageBytesMax;
  }

  get protocolVersion(): number {
    return this.#greeting.protocolVersion;
  }

  get serverVersion(): string {
    return this.#greeting.serverVersion;
  }

  /** Sends the command that `make` returns for a new request id, and waits for an answer of kind `expects`. */
  async request<Kind extends AnswerKind>(
    expects: Kind,
    make: (requestId: bigint) => Command,
    options: RequestOptions = {},
  ): Promise<CommandBodies[Kind]> {
    if (!this.#isOpen)
      throw this.#closedBecause ?? new ConnectionError("the connection is not open yet");
    const send = (requestId: bigint): void => {
      this.send(make(requestId));
      this.#alarm.set(this.#session.dueAtMs);
    };
    const nowMs = this.#dependencies.timer.now();
    return request(this.#session.requests, { ...options, expects, nowMs, send });
  }

  /** A request id for a command whose answer is not awaited. */
  takeRequestId(): bigint {
    return this.#session.requests.takeId();
  }

  /** Does nothing on a lost connection. */
  send(command: Command): void {
    this.write(encodeFrame(command));
  }

  /** Writes whole frames, possibly in several calls in a row. */
  write(bytes: Uint8Array): void {
    if (!this.#isWritable) this.#hold(bytes.length);
    if (this.#transport?.write(bytes) === false) this.#isWritable = false;
  }

  /** Commands for this producer or consumer id are handed to `attached` from now on. */
  attach(role: AttachmentRole, id: bigint, attached: Attached): void {
    this.#attached.add(role, id, attached);
  }

  detach(role: AttachmentRole, id: bigint): void {
    this.#attached.delete(role, id);
  }

  /** Calls back once when the connection is gone; at once if it is gone already. */
  whenClosed(callback: () => void): void {
    if (this.#isOpen) this.#onClosed = callback;
    else callback();
  }

  /** Fails all requests with `reason` and tells all attached producers and consumers. */
  close(reason: SluiceError): void {
    if (this.#closedBecause !== undefined) return;
    this.#closedBecause = reason;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#alarm.clear();
    this.#closing.abort(reason);
    this.#transport?.close();
    this.#transport = undefined;
    this.#greeted.reject(reason);
    this.#session.requests.failAll(reason);
    if (wasOpen) this.#emit({ type: "disconnected", reason });
    this.#onClosed();
    this.#attached.lose(reason);
  }

  async #shakeHands(signal: AbortSignal): Promise<void> {
    const { dial, authentication } = this.#dependencies;
    const transport = await dial(this.target.endpoint, signal);
    const listener = { handleEvent: (): void => this.close(this.#asError(signal.reason)) };
    try {
      signal.throwIfAborted();
      this.#transport = transport;
      transport.start(this.#listener());
      addAbortListener(signal, listener);
      const credentials = await credentialsOf(authentication, signal);
      this.send(this.#session.connectCommand(credentials));
      await this.#greeted.promise;
    } catch (error) {
      this.close(this.#asError(error));
      transport.close();
      signal.throwIfAborted();
      throw error;
    } finally {
      removeAbortListener(signal, listener);
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
    const nowMs = this.#dependencies.timer.now();
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
    for (const reply of this.#replies.takeAll()) this.#reply(reply);
    this.#attached.onDrain(() => this.#isWritable);
  }

  #onDue(nowMs: number): void {
    this.#apply(this.#session.onDue(nowMs));
    if (this.#isOpen) this.#alarm.set(this.#session.dueAtMs);
  }

  #apply(effect: SessionEffect): void {
    if (effect.kind === "send") this.#reply(effect.command);
    else if (effect.kind === "authenticate") void this.#authenticate(effect.challenge);
    else if (effect.kind === "greet") this.#onGreeting(effect.greeting);
    else if (effect.kind === "unknown")
      this.#emit({ type: "unknownCommand", commandType: effect.commandType });
    else if (effect.kind === "close") this.close(effect.reason);
  }

  /** Replies wait while the connection is not writable: the peer decides how many there are. */
  #reply(command: Command): void {
    if (this.#isWritable) this.send(command);
    else if (!this.#replies.add(command)) this.close(this.#notReading());
  }

  #onGreeting(greeting: Greeting): void {
    this.#greeting = greeting;
    this.#decoder.frameBytesMax = greeting.messageBytesMax + FRAME_PADDING_BYTES;
    this.#isOpen = true;
    this.#emit({ type: "connected", serverVersion: greeting.serverVersion });
    this.#greeted.resolve();
  }

  /** SENDs wait while not writable. Small commands do not, and a peer may provoke them. */
  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes > HELD_BYTES_MAX) this.close(this.#notReading());
  }

  /** One at a time: a challenge that comes meanwhile gets the same answer. */
  async #authenticate(challenge: Uint8Array): Promise<void> {
    if (this.#isAuthenticating) return;
    this.#isAuthenticating = true;
    const { timer, authentication } = this.#dependencies;
    const what = `refreshing the credentials for ${targetName(this.target)}`;
    const deadline = { ms: this.#options.operationTimeoutMs, signal: this.#closing.signal, what };
    try {
      const credentials = await withDeadline(timer, deadline, (signal) =>
        credentialsOf(authentication, signal, challenge),
      );
      this.send(this.#session.authResponse(credentials));
    } catch (error) {
      this.close(this.#asError(error));
    } finally {
      this.#isAuthenticating = false;
    }
  }

  #emit(
    event:
      | Omit<Connected, "address" | "atMs">
      | Omit<Disconnected, "address" | "atMs">
      | Omit<UnknownCommandReceived, "address" | "atMs">,
  ): void {
    const { timer, emit } = this.#dependencies;
    emit({ ...event, address: targetName(this.target), atMs: timer.now() });
  }

  #notReading(): ConnectionError {
    return new ConnectionError(`${targetName(this.target)} does not read what it is sent`);
  }

  #asError(error: unknown): SluiceError {
    if (error instanceof SluiceError) return error;
    const what = `the connection to ${targetName(this.target)} was given up`;
    return new ConnectionError(what, { cause: error });
  }
}
