import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { Fifo } from "@sluice/core/internal";
import { decodeFrame, encodeFrameHead, FrameDecoder } from "@sluice/pulsar/wire";
import type { Command, CommandBodies, CommandKind, Frame } from "@sluice/pulsar/wire";

/** A socket that speaks the protocol, or anything else that a test wants to say. */
export class RawClient {
  readonly socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #frames = new Fifo<Frame>();
  #wake: () => void = () => {};
  #hasEnded = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#decoder.push(chunk);
      for (let bytes = this.#decoder.next(); bytes !== undefined; bytes = this.#decoder.next())
        this.#frames.push(decodeFrame(bytes));
      this.#wake();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#hasEnded = true;
      this.#wake();
    });
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new RawClient(socket);
  }

  /** One that was let in. */
  static async connected(port: number): Promise<RawClient> {
    const client = await RawClient.open(port);
    client.send("connect", { clientVersion: "raw", protocolVersion: 21 });
    await client.next("connected");
    return client;
  }

  send<Kind extends CommandKind>(kind: Kind, body: CommandBodies[Kind], entry?: Buffer): void {
    this.socket.write(frameBytes({ kind, body } as Command, entry));
  }

  async nextAny(): Promise<Frame> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) return frame;
      if (this.#hasEnded) throw new Error("the connection has ended");
      await this.#more();
    }
  }

  /** The next command of this kind. What comes before it is thrown away. */
  async next<Kind extends CommandKind>(kind: Kind): Promise<CommandBodies[Kind]> {
    for (;;) {
      const { command } = await this.nextAny();
      if (command.kind === kind) return command.body as CommandBodies[Kind];
    }
  }

  /** Resolves once the broker has ended the connection; with what came before that. */
  async ended(): Promise<Command[]> {
    while (!this.#hasEnded) await this.#more();
    const commands: Command[] = [];
    for (let frame = this.#frames.shift(); frame !== undefined; frame = this.#frames.shift())
      commands.push(frame.command);
    return commands;
  }

  close(): void {
    this.socket.destroy();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

export function frameBytes(command: Command, entry: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([encodeFrameHead(command, entry.length), entry]);
}
