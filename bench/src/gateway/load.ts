import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { systemTimer } from "@sluice/core/system";
import { decodeFrame, encodeFrame, encodeSendFrame, FrameDecoder } from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";

const PAYLOAD = Buffer.alloc(1024, "sluice");

/** SENDs without a receipt. Below the 1,000 at which a gateway stops reading. */
const WINDOW = 900;

/** One producer without a client library around it, so that the load costs little itself. */
export class Load {
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  #sent = 0;
  #received = 0;
  #onReceipt: (sequence: number) => void = () => {};
  #onCommand: (command: Command) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      this.#decoder.push(chunk);
      for (let bytes = this.#decoder.next(); bytes !== undefined; bytes = this.#decoder.next())
        this.#take(decodeFrame(bytes).command);
    });
  }

  static async open(port: number): Promise<Load> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const load = new Load(socket);
    await load.#ask({ kind: "connect", body: { clientVersion: "load", protocolVersion: 21 } });
    const topic = "persistent://public/default/load";
    await load.#ask({ kind: "producer", body: { topic, producerId: 1n, requestId: 1n } });
    return load;
  }

  /** As fast as that goes. Resolves with the last receipt. */
  async publish(messages: number): Promise<void> {
    const end = this.#sent + messages;
    await new Promise<void>((resolve) => {
      const fill = (): void => {
        this.#socket.cork();
        while (this.#sent < end && this.#sent - this.#received < WINDOW) this.#send();
        this.#socket.uncork();
      };
      this.#onReceipt = (sequence) => {
        if (sequence + 1 === end) resolve();
        else if (this.#sent - this.#received < WINDOW / 2) fill();
      };
      fill();
    });
  }

  /** At a steady rate: milliseconds from each SEND to its receipt. */
  async latenciesMs(perSecond: number, seconds: number): Promise<readonly number[]> {
    const end = this.#sent + perSecond * seconds;
    const sentAtMs = new Map<number, number>();
    const latencies: number[] = [];
    const ended = new Promise<void>((resolve) => {
      this.#onReceipt = (sequence) => {
        latencies.push(systemTimer.now() - (sentAtMs.get(sequence) ?? 0));
        sentAtMs.delete(sequence);
        if (sequence + 1 === end) resolve();
      };
    });
    const first = this.#sent;
    const startedAtMs = systemTimer.now();
    while (this.#sent < end) {
      const nowMs = systemTimer.now();
      const due = Math.min(end, first + ((nowMs - startedAtMs) / 1000) * perSecond);
      this.#socket.cork();
      while (this.#sent < due && this.#sent - this.#received < WINDOW) {
        sentAtMs.set(this.#sent, nowMs);
        this.#send();
      }
      this.#socket.uncork();
      await systemTimer.sleep(1);
    }
    await ended;
    return latencies;
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(): void {
    const sequenceId = BigInt(this.#sent++);
    const metadata = { producerName: "load", sequenceId, publishTime: 1n };
    this.#socket.write(encodeSendFrame({ producerId: 1n, sequenceId }, metadata, PAYLOAD));
  }

  async #ask(command: Command): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      this.#onCommand = () => resolve();
    });
    this.#socket.write(encodeFrame(command));
    await answered;
  }

  #take(command: Command): void {
    if (command.kind === "ping") this.#socket.write(encodeFrame({ kind: "pong", body: {} }));
    else if (command.kind !== "sendReceipt") this.#onCommand(command);
    else {
      this.#received++;
      this.#onReceipt(Number(command.body.sequenceId));
    }
  }
}
