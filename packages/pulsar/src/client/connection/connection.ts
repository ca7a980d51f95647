import { SluiceError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { Command, CommandBodies } from "../../wire/command.ts";
import { FrameDecoder } from "../../wire/frame-decoder.ts";
import { decodeFrame, encodeFrame, FRAME_PADDING_BYTES } from "../../wire/frame.ts";
import type { ThrottleCodec } from "../../wire/throttle.ts";
import type { Authentication } from "../authentication/authentication.ts";
import { credentialsOf } from "../authentication/credentials.ts";
import { CredentialsRefresh } from "../authentication/refresh.ts";
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
import {
  closedEarly,
  givenUp,
  lostConnection,
  notABroker,
  notReading,
} from "./connection-errors.ts";
import { Outbox } from "./outbox.ts";
import type { AnswerKind } from "./request-table.ts";
import { request } from "./request.ts";
import type { RequestOptions } from "./request.ts";
import type { Dial, TransportListener } from "./transport.ts";

export type { RequestOptions } from "./request.ts";

/** Largest frame before CONNECTED, in bytes: the peer is not known to be a broker yet. */
const HANDSHAKE_FRAME_BYTES_MAX = 65_536;

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
  /** PIP-385's commands; undefined: not announced, and unknown if they come. */
  readonly throttle: ThrottleCodec | undefined;
}

/** One connection to a broker, shared by all producers and consumers of that broker. */
export class Connection {
  readonly target: ConnectionTarget;
  readonly #dependencies: ConnectionDependencies;
  readonly #refresh: CredentialsRefresh;
  readonly #session: ConnectionSession;
  readonly #decoder = new FrameDecoder({ frameBytesMax: HANDSHAKE_FRAME_BYTES_MAX });
  readonly #alarm: Alarm;
  readonly #greeted: Deferred<void> = deferred();
  readonly #attached = new AttachedSet();
  readonly #outbox = new Outbox(() => this.close(notReading(this.target)));
  readonly #closing = new AbortController();
  #greeting: Greeting = { serverVersion: "", protocolVersion: 0, messageBytesMax: 0 };
  #isOpen = false;
  #closedBecause: SluiceError | undefined;
  #onClosed: () => void = () => undefined;

  private constructor(
    target: ConnectionTarget,
    dependencies: ConnectionDependencies,
    options: ConnectionOptions,
  ) {
    const { operationTimeoutMs, keepAliveMs, throttle } = options;
    const { timer, authentication } = dependencies;
    const { proxyTo } = target;
    this.target = target;
    this.#dependencies = dependencies;
    this.#refresh = new CredentialsRefresh(timer, authentication, {
      timeoutMs: operationTimeoutMs,
      address: targetName(target),
    });
    this.#session = new ConnectionSession(
      {
        authMethodName: authentication.methodName,
        proxyToBrokerUrl: proxyTo === undefined ? undefined : addressName(proxyTo),
        operationTimeoutMs,
        keepAliveMs,
        throttle,
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
    return this.#outbox.isWritable;
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
    this.#outbox.write(bytes);
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
    this.#outbox.close();
    this.#greeted.reject(reason);
    this.#session.requests.failAll(reason);
    if (wasOpen) this.#emit({ type: "disconnected", reason });
    this.#onClosed();
    this.#attached.lose(reason);
  }

  async #shakeHands(signal: AbortSignal): Promise<void> {
    const { dial, authentication } = this.#dependencies;
    const transport = await dial(this.target.endpoint, signal);
    const listener = { handleEvent: (): void => this.close(givenUp(this.target, signal.reason)) };
    try {
      signal.throwIfAborted();
      this.#outbox.open(transport);
      transport.start(this.#listener());
      addAbortListener(signal, listener);
      const credentials = await credentialsOf(authentication, signal);
      this.send(this.#session.connectCommand(credentials));
      await this.#greeted.promise;
    } catch (error) {
      this.close(givenUp(this.target, error));
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
        const errorOf = this.#isOpen ? lostConnection : closedEarly;
        this.close(errorOf(this.target, cause));
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
    this.#outbox.onDrain();
    this.#attached.onDrain(() => this.#outbox.isWritable);
  }

  #onDue(nowMs: number): void {
    this.#apply(this.#session.onDue(nowMs));
    if (this.#isOpen) this.#alarm.set(this.#session.dueAtMs);
  }

  #apply(effect: SessionEffect): void {
    if (effect.kind === "send") this.#outbox.reply(effect.command);
    else if (effect.kind === "throttle") {
      // Also for a producer that is gone: the broker waits for the receipt of every command.
      this.#outbox.receipt(effect.receipt);
      this.#attached.get("producer", effect.command.producerId)?.onThrottle(effect.command);
    } else if (effect.kind === "authenticate") void this.#authenticate(effect.challenge);
    else if (effect.kind === "greet") this.#onGreeting(effect.greeting);
    else if (effect.kind === "unknown")
      this.#emit({ type: "unknownCommand", commandType: effect.commandType });
    else if (effect.kind === "close") this.close(effect.reason);
  }

  #onGreeting(greeting: Greeting): void {
    this.#greeting = greeting;
    this.#decoder.frameBytesMax = greeting.messageBytesMax + FRAME_PADDING_BYTES;
    this.#isOpen = true;
    this.#emit({ type: "connected", serverVersion: greeting.serverVersion });
    this.#greeted.resolve();
  }

  async #authenticate(challenge: Uint8Array): Promise<void> {
    try {
      const credentials = await this.#refresh.run(challenge, this.#closing.signal);
      if (credentials !== undefined) this.send(this.#session.authResponse(credentials));
    } catch (error) {
      this.close(givenUp(this.target, error));
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
}
