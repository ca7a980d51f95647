import type { Socket } from "node:net";
import type { Clock } from "@sluice/core";
import { decodeFrame, FrameDecoder, ProtocolError } from "@sluice/pulsar/wire";
import type { Frame } from "@sluice/pulsar/wire";
import { AuthenticationError } from "../auth/authentication-error.ts";
import type { TokenAuthenticator } from "../auth/token-authenticator.ts";
import type { Effect } from "../session/effect.ts";
import type { SessionFacts } from "../session/handshake.ts";
import { plainText } from "../session/refusal.ts";
import { Session } from "../session/session.ts";
import { BrokerLink } from "./broker-link.ts";
import type { BrokerSide } from "./broker-link.ts";
import type { FlushTurns } from "./flush-turns.ts";
import { Outbound } from "./outbound.ts";

/** What all connections of a server share. */
export interface ConnectionWorld extends BrokerSide {
  readonly clock: Clock;
  readonly turns: FlushTurns;
  readonly authenticator: TokenAuthenticator | undefined;
  /** We ended a connection, for this reason. */
  readonly onClosed: (reason: string) => void;
  /** Something failed that should not have. */
  readonly onError: (error: unknown) => void;
}

/** Where a frame says how long its command is. */
const COMMAND_LENGTH_AT = 4;

/** How long a peer that we have said goodbye to may take to hear it. */
const GOODBYE_MS = 1_000;

/** A socket and its session: bytes become frames, and what the session wants is done. */
export class Connection {
  readonly session: Session;
  readonly #socket: Socket;
  readonly #world: ConnectionWorld;
  readonly #decoder: FrameDecoder;
  readonly #commandBytesMax: number;
  readonly #link: BrokerLink;
  readonly #outbound: Outbound;
  #isDraining = false;
  #destroyAtMs: number | undefined;

  constructor(socket: Socket, world: ConnectionWorld, facts: SessionFacts) {
    this.#socket = socket;
    this.#world = world;
    this.session = new Session(facts, world.clock.now());
    this.#decoder = new FrameDecoder({ frameBytesMax: facts.limits.greetingBytesMax });
    this.#commandBytesMax = facts.limits.commandBytesMax;
    this.#link = new BrokerLink(world, this.session, (effects) => this.carryOut(effects));
    this.#outbound = new Outbound(socket, world.turns, () =>
      this.carryOut(this.session.unread(this.#outbound.unreadBytes)),
    );
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    // What follows is "close"; why is not for us to say.
    socket.on("error", () => {});
    socket.on("close", () => this.carryOut(this.session.end()));
    if (world.memory.isFull) this.carryOut(this.session.throttle("memory"));
  }

  /** Bytes that the peer was sent and has not taken. */
  get unreadBytes(): number {
    return this.#outbound.unreadBytes;
  }

  /** Said goodbye to, or gone: nothing can be sent any more. */
  get #isClosing(): boolean {
    return this.#destroyAtMs !== undefined || this.#socket.destroyed;
  }

  tick(nowMs: number): void {
    if (this.#destroyAtMs === undefined) this.carryOut(this.session.tick(nowMs));
    else if (nowMs >= this.#destroyAtMs) this.#socket.destroy();
  }

  /** Says what is left to say, then goodbye. */
  close(reason: string): void {
    if (this.#isClosing) return;
    this.#world.onClosed(plainText(reason));
    this.#destroyAtMs = this.#world.clock.now() + GOODBYE_MS;
    this.#outbound.flush();
    this.carryOut(this.session.end());
    this.#socket.end();
    // Whatever still comes is thrown away: unread bytes would hide that the peer has left.
    this.#socket.resume();
  }

  /** Does what the session wants. It is called from everywhere, so nothing escapes it. */
  carryOut(effects: readonly Effect[]): void {
    try {
      this.#carryOutAll(effects);
    } catch (error) {
      this.#fail(error);
    }
  }

  #carryOutAll(effects: readonly Effect[]): void {
    let isResumed = false;
    for (const effect of effects) {
      switch (effect.kind) {
        case "send":
          this.#send(effect);
          break;
        case "close":
          this.close(effect.reason);
          break;
        case "pauseReading":
          this.#socket.pause();
          break;
        case "resumeReading":
          this.#socket.resume();
          isResumed = true;
          break;
        case "pauseDelivery":
          this.#link.pauseDelivery();
          break;
        case "resumeDelivery":
          this.#link.resumeDelivery();
          break;
        case "setFrameBytesMax":
          this.#decoder.frameBytesMax = effect.bytes;
          break;
        case "authenticate":
          void this.#authenticate(effect.credentials);
          break;
        case "openProducer":
        case "publish":
        case "closeProducer":
        case "subscribe":
        case "flow":
        case "ack":
        case "redeliver":
        case "closeConsumer":
        case "ask":
          this.#link.carryOut(effect);
          break;
      }
    }
    // Frames that waited may be answered at once, and must not overtake what was wanted with this.
    if (isResumed) this.#drain();
  }

  #onData(chunk: Buffer): void {
    if (this.#destroyAtMs !== undefined) return;
    this.#decoder.push(chunk);
    this.#drain();
  }

  /** Hands frames over for as long as the session takes them. */
  #drain(): void {
    // A frame may resume reading; it is the frames after it that go on.
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      this.#handOver(this.#world.clock.now());
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isDraining = false;
    }
  }

  #handOver(nowMs: number): void {
    while (this.session.isReading) {
      const bytes = this.#decoder.next();
      if (bytes === undefined) {
        this.session.drained(this.#decoder.isWithinFrame, nowMs);
        return;
      }
      this.carryOut(this.session.receive(this.#decode(bytes), nowMs));
    }
  }

  #decode(bytes: Buffer): Frame {
    const commandBytes = bytes.readUInt32BE(COMMAND_LENGTH_AT);
    if (commandBytes > this.#commandBytesMax)
      throw new ProtocolError(`a command has ${this.#commandBytesMax} bytes at most`);
    return decodeFrame(bytes);
  }

  #fail(error: unknown): void {
    if (error instanceof ProtocolError) this.close(error.message);
    else {
      this.#world.onError(error);
      this.close("an error of the broker");
    }
  }

  #send({ command, entry }: Extract<Effect, { readonly kind: "send" }>): void {
    if (this.#isClosing) return;
    const bytes = this.#outbound.write(command, entry);
    // Messages are held back while the client does not read, so that only answers can pile up.
    const answerBytes = entry === undefined ? bytes : 0;
    const { unreadBytes } = this.#outbound;
    this.carryOut(this.session.written(answerBytes, unreadBytes, this.#world.clock.now()));
  }

  async #authenticate(credentials: Uint8Array): Promise<void> {
    const { authenticator, wallClock, clock } = this.#world;
    try {
      const token = Buffer.from(credentials).toString("utf8");
      const identity = await authenticator?.authenticate(token);
      if (identity === undefined) throw new AuthenticationError("nobody is let in");
      const { role, expiresAtMs } = identity;
      const expiresInMs = expiresAtMs === undefined ? undefined : expiresAtMs - wallClock.now();
      this.carryOut(this.session.authenticated({ role, expiresInMs }, clock.now()));
    } catch (error) {
      const message = error instanceof AuthenticationError ? error.message : "no access";
      this.carryOut(this.session.authenticationFailed(message));
    }
  }
}
