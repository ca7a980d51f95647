import { createServer, connect } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

export interface RecordedFrame {
  readonly to: "broker" | "client";
  /** The number that the protocol gives to the command. */
  readonly type: number;
  /** As the sender wrote it. */
  readonly bytes: Buffer;
}

export interface RecordingProxyOptions {
  /** More frames than this are passed on without being kept. */
  readonly framesMax?: number;
}

const LOOKUP_RESPONSE = 24;
const HEADER_BYTES = 8;

/**
 * Stands between a client and a broker, keeps the frames of both, and can cut all connections.
 *
 * It knows nothing of the protocol but where a frame ends and which command it is, so that what it
 * records can judge our own codec. Brokers tell clients their own address; the proxy puts its own
 * there, which has the same length, and is the only change that it makes.
 */
export class RecordingProxy {
  readonly frames: RecordedFrame[] = [];
  readonly #brokerAddress: URL;
  readonly #framesMax: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #port = 0;
  #frameCount = 0;
  #cutAtFrame = Infinity;

  private constructor(brokerUrl: string, { framesMax = 10_000 }: RecordingProxyOptions) {
    this.#brokerAddress = new URL(brokerUrl);
    this.#framesMax = framesMax;
    this.#server = createServer((client) => void this.#join(client));
  }

  static async start(
    brokerUrl: string,
    options: RecordingProxyOptions = {},
  ): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(brokerUrl, options);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, "127.0.0.1", resolve);
    });
    proxy.#port = (proxy.#server.address() as AddressInfo).port;
    return proxy;
  }

  get serviceUrl(): string {
    return `pulsar://127.0.0.1:${this.#port}`;
  }

  /** Cuts every connection once, in the middle of a frame, when this many more have passed. */
  cutAfter(frames: number): void {
    this.#cutAtFrame = this.#frameCount + frames;
  }

  get hasCut(): boolean {
    return this.#cutAtFrame <= this.#frameCount;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    this.#cut();
    await closed;
  }

  async #join(client: Socket): Promise<void> {
    const broker = connect({
      host: this.#brokerAddress.hostname,
      port: Number(this.#brokerAddress.port),
      noDelay: true,
    });
    client.setNoDelay(true);
    const pair = [client, broker];
    for (const socket of pair) this.#sockets.add(socket);
    // Either side may end as it likes: that is what the tests are about.
    await Promise.allSettled([
      pipeline(client, this.#recorder("broker"), broker),
      pipeline(broker, this.#recorder("client"), client),
    ]);
    for (const socket of pair) {
      socket.destroy();
      this.#sockets.delete(socket);
    }
  }

  #recorder(to: RecordedFrame["to"]): Transform {
    let rest: Buffer = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        const passed: Buffer[] = [];
        while (rest.length >= HEADER_BYTES && rest.length >= rest.readUInt32BE(0) + 4) {
          const end = rest.readUInt32BE(0) + 4;
          passed.push(this.#pass(to, rest.subarray(0, end)));
          rest = rest.subarray(end);
        }
        done(undefined, Buffer.concat(passed));
      },
    });
  }

  #pass(to: RecordedFrame["to"], bytes: Buffer): Buffer {
    // A command begins with its type, whose tag is the byte before.
    const type = bytes[HEADER_BYTES + 1] ?? 0;
    if (this.frames.length < this.#framesMax)
      this.frames.push({ to, type, bytes: Buffer.from(bytes) });
    if (++this.#frameCount === this.#cutAtFrame) {
      this.#cut();
      return bytes.subarray(0, bytes.length >> 1);
    }
    return type === LOOKUP_RESPONSE ? this.#withOwnAddress(bytes) : bytes;
  }

  #withOwnAddress(bytes: Buffer): Buffer {
    const theirs = this.#brokerAddress.host;
    const ours = `127.0.0.1:${this.#port}`;
    if (ours.length !== theirs.length)
      throw new Error(`${ours} does not fit in place of ${theirs}`);
    return Buffer.from(bytes.toString("latin1").replaceAll(theirs, ours), "latin1");
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
