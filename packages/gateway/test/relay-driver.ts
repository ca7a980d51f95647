import { decodeFrame, encodeFrameHead, ThrottleCodec } from "@sluice/pulsar/wire";
import type { Command, CommandBodies, CommandKind, Frame } from "@sluice/pulsar/wire";
import type { RelayEffect } from "../src/relay/effect.ts";
import { decodeBrokerFrame, decodeClientFrame } from "../src/relay/relay-commands.ts";
import type { SendFrame } from "../src/relay/relay-commands.ts";
import type { Refusal } from "../src/refusal/refusal.ts";
import type {
  Admission,
  AdmittedProducer,
  DeliveryAdmission,
  RelayFacts,
  SubscribingConsumer,
} from "../src/relay/relay-context.ts";
import type { RelayEvent } from "../src/relay/relay-event.ts";
import { Relay } from "../src/relay/relay.ts";
import { sessionLimits } from "../src/session/limits.ts";
import type { SessionLimits } from "../src/session/limits.ts";

type OtherEffect = Exclude<RelayEffect, { readonly kind: "toClient" | "toUpstream" | "close" }>;

/** Holds SENDs of the topics that a test has said, until it releases them. */
class TestAdmission implements Admission {
  readonly heldTopics = new Set<string>();
  readonly held: { readonly producer: AdmittedProducer; readonly frame: SendFrame }[] = [];

  /** Messages of all SENDs that asked, as the relay counts them. */
  messages = 0;

  admit(producer: AdmittedProducer, frame: SendFrame, messages: number): boolean {
    this.messages += messages;
    const isHeld =
      this.heldTopics.has(producer.topic) || this.held.some((one) => one.producer === producer);
    if (isHeld) this.held.push({ producer, frame });
    return !isHeld;
  }

  setAware(): void {}

  open(): undefined {}

  settled(): void {}

  noticed(): void {}

  drop(producer: AdmittedProducer): void {
    const left = this.held.filter((one) => one.producer !== producer);
    this.held.splice(0, this.held.length, ...left);
  }
}

/** Limits the consumers of the topics that a test has said; permits go when the test says so. */
class TestDeliveries implements DeliveryAdmission {
  readonly limitedTopics = new Set<string>();
  readonly refusedTopics = new Set<string>();
  /** Keys of the limited consumers that are open. */
  readonly open = new Set<number>();
  /** What the relay has told, oldest first. */
  readonly told: string[] = [];

  subscribe({ key, topic }: SubscribingConsumer): Refusal | "limited" | "unlimited" {
    if (this.refusedTopics.has(topic)) return { error: "TooManyRequests", message: "wait 1 s" };
    if (!this.limitedTopics.has(topic)) return "unlimited";
    this.open.add(key);
    return "limited";
  }

  flow(_key: number, permits: number): void {
    this.told.push(`flow ${permits}`);
  }

  delivered(_key: number, messages: number, bytes: number): void {
    this.told.push(`delivered ${messages} of ${bytes}`);
  }

  drop(key: number): void {
    this.open.delete(key);
  }
}

export interface RelayDriverOptions extends Partial<Omit<RelayFacts, "limits">> {
  readonly limits?: Partial<SessionLimits>;
}

/** A loop around a relay that keeps what it wants, for a test to look at. */
export class RelayDriver {
  readonly relay: Relay;
  readonly admission = new TestAdmission();
  readonly deliveries = new TestDeliveries();
  /** What the relay wanted besides sending, oldest first. */
  readonly wanted: OtherEffect[] = [];
  closeReason: string | undefined;
  nowMs = 0;
  #toClient: Frame[] = [];
  #toUpstream: Frame[] = [];

  constructor({ limits, ...facts }: RelayDriverOptions = {}) {
    this.relay = new Relay(
      {
        limits: sessionLimits(limits),
        lookup: "auto",
        serviceUrl: "pulsar://gateway:6650",
        serviceUrlTls: undefined,
        isUpstreamTls: false,
        handshakeMs: 30_000,
        proxyVersion: undefined,
        throttle: new ThrottleCodec(),
        hasNotices: false,
        ...facts,
      },
      { admission: this.admission, deliveries: this.deliveries },
      0,
    );
  }

  /** A relay of a client that was let in, with nothing left over from that. */
  static connected(
    options: RelayDriverOptions = {},
    connect: Partial<CommandBodies["connect"]> = {},
  ): RelayDriver {
    const driver = new RelayDriver(options);
    driver.receive("connect", { clientVersion: "test", protocolVersion: 21, ...connect });
    driver.on({ kind: "upstreamConnected", names: [{ host: "broker", port: 6650 }] });
    driver.receiveUpstream("connected", { serverVersion: "broker", protocolVersion: 21 });
    driver.sent();
    driver.passed();
    driver.wanted.length = 0;
    return driver;
  }

  receive<Kind extends CommandKind>(kind: Kind, body: CommandBodies[Kind], entry?: Buffer): void {
    const frame = decodeClientFrame(bytesOf({ kind, body } as Command, entry));
    this.on({ kind: "frame", frame });
  }

  receiveUpstream<Kind extends CommandKind>(
    kind: Kind,
    body: CommandBodies[Kind],
    entry?: Buffer,
  ): void {
    this.receiveUpstreamBytes(bytesOf({ kind, body } as Command, entry));
  }

  receiveUpstreamBytes(bytes: Buffer): void {
    this.on({ kind: "upstreamFrame", frame: decodeBrokerFrame(bytes) });
  }

  /** The oldest held SEND may go. */
  release(): void {
    const [oldest] = this.admission.held.splice(0, 1);
    if (oldest === undefined) return;
    this.on({ kind: "released", producer: oldest.producer.key, frame: oldest.frame });
  }

  tick(nowMs: number): void {
    this.nowMs = nowMs;
    this.on({ kind: "tick" });
  }

  on(event: RelayEvent): void {
    for (const effect of this.relay.on(event, this.nowMs)) {
      if (effect.kind === "toClient") this.#toClient.push(decodeFrame(effect.bytes));
      else if (effect.kind === "toUpstream") this.#toUpstream.push(decodeFrame(effect.bytes));
      else if (effect.kind === "close") this.closeReason = effect.reason;
      else this.wanted.push(effect);
    }
  }

  /** What the client was sent since the last call. */
  sentFrames(): Frame[] {
    return this.#toClient.splice(0);
  }

  sent(): Command[] {
    return this.sentFrames().map(({ command }) => command);
  }

  /** What the upstream was sent since the last call. */
  passedFrames(): Frame[] {
    return this.#toUpstream.splice(0);
  }

  passed(): Command[] {
    return this.passedFrames().map(({ command }) => command);
  }

  wantedOf<Kind extends OtherEffect["kind"]>(
    kind: Kind,
  ): Extract<OtherEffect, { readonly kind: Kind }>[] {
    return this.wanted.filter(
      (effect): effect is Extract<OtherEffect, { readonly kind: Kind }> => effect.kind === kind,
    );
  }
}

export function bytesOf(command: Command, entry: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([encodeFrameHead(command, entry.length), entry]);
}
