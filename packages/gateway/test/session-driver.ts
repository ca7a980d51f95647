import type { Command, CommandBodies, CommandKind, Frame } from "@sluice/pulsar/wire";
import { decodeFrame, encodeEntry, encodeFrameHead } from "@sluice/pulsar/wire";
import type { Effect } from "../src/session/effect.ts";
import { sessionLimits } from "../src/session/limits.ts";
import type { SessionLimits } from "../src/session/limits.ts";
import type { SessionFacts } from "../src/session/session-context.ts";
import type { SessionEvent } from "../src/session/session-event.ts";
import { Session } from "../src/session/session.ts";

const NO_ENTRY = Buffer.alloc(0);

export interface DriverOptions extends Partial<Omit<SessionFacts, "limits">> {
  readonly limits?: Partial<SessionLimits>;
}

type BrokerEffect = Exclude<Effect, { readonly kind: "send" | "close" }>;

/** A loop around a session that does nothing of what it wants but keeps it, for a test to look at. */
export class SessionDriver {
  readonly session: Session;
  /** What the session wanted besides sending, oldest first. */
  readonly wanted: BrokerEffect[] = [];
  closeReason: string | undefined;
  nowMs = 0;
  #sent: Command[] = [];

  constructor({ limits, ...facts }: DriverOptions = {}) {
    this.session = new Session(
      {
        limits: sessionLimits(limits),
        authMethods: [],
        permissions: undefined,
        serviceUrl: "pulsar://127.0.0.1:6650",
        serviceUrlTls: undefined,
        throttle: undefined,
        ...facts,
      },
      0,
    );
  }

  /** A session of a client that was let in, with nothing left over from that. */
  static connected(options: DriverOptions = {}): SessionDriver {
    const driver = new SessionDriver(options);
    driver.receive("connect", { clientVersion: "test", protocolVersion: 21 });
    driver.sent();
    driver.wanted.length = 0;
    return driver;
  }

  receive<Kind extends CommandKind>(kind: Kind, body: CommandBodies[Kind], entry?: Buffer): void {
    this.receiveFrame(frameOf({ kind, body } as Command, entry));
  }

  receiveFrame(frame: Frame): void {
    this.on({ kind: "frame", frame });
  }

  on(event: SessionEvent): void {
    for (const effect of this.session.on(event, this.nowMs)) {
      if (effect.kind === "send") this.#sent.push(effect.command);
      else if (effect.kind === "close") this.closeReason = effect.reason;
      else this.wanted.push(effect);
    }
  }

  tick(nowMs: number): void {
    this.nowMs = nowMs;
    this.on({ kind: "tick" });
  }

  /** What was sent since the last call. */
  sent(): Command[] {
    const sent = this.#sent;
    this.#sent = [];
    return sent;
  }

  /** The oldest effect of this kind, which is then no longer wanted. */
  take<Kind extends BrokerEffect["kind"]>(kind: Kind): Extract<Effect, { readonly kind: Kind }> {
    const index = this.wanted.findIndex((effect) => effect.kind === kind);
    const [effect] = index < 0 ? [] : this.wanted.splice(index, 1);
    if (effect === undefined) throw new Error(`nobody wants ${kind}`);
    return effect as Extract<Effect, { readonly kind: Kind }>;
  }

  /** Opens a producer, whose id is also its request's. */
  openProducer(producerId: bigint, topic = "t"): void {
    this.receive("producer", { topic, producerId, requestId: producerId });
    this.opened(this.take("openProducer").producer, { name: `p${producerId}` });
  }

  subscribe(consumerId: bigint): void {
    const requestId = consumerId;
    this.receive("subscribe", { topic: "t", subscription: "s", subType: 1, consumerId, requestId });
    this.on({ kind: "subscribed", consumer: this.take("subscribe").consumer, isActive: undefined });
  }

  /** The broker has opened a producer. */
  opened(producer: number, { name = "p", isReady = true } = {}): void {
    const none = { topicEpoch: undefined, lastSequenceId: -1n, schemaVersion: undefined };
    const opened = { name, isReady, ...none };
    this.on({ kind: "producerOpened", producer, ...opened });
  }

  /** The oldest entry that was to be published is stored; answers what it was. */
  publish(): Extract<Effect, { readonly kind: "publish" }> {
    const publish = this.take("publish");
    const { producer, sequence } = publish;
    this.on({ kind: "published", producer, sequence, messageId: { ledgerId: 1n, entryId: 0n } });
    return publish;
  }

  send(producerId: bigint, sequenceId: bigint, entry: Buffer = entryOf("x")): void {
    this.receive("send", { producerId, sequenceId }, entry);
  }
}

export function frameOf(command: Command, entry: Buffer = NO_ENTRY): Frame {
  return decodeFrame(Buffer.concat([encodeFrameHead(command, entry.length), entry]));
}

export function entryOf(payload: string, numMessagesInBatch?: number): Buffer {
  return encodeEntry(
    { producerName: "p", sequenceId: 0n, publishTime: 0n, numMessagesInBatch },
    Buffer.from(payload),
  );
}
