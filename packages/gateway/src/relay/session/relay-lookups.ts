import { encodeFrame, LOOKUP_RESULT, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import type { BrokerFrame, ClientFrame } from "../relay-commands.ts";
import { forward, pass } from "../relay-context.ts";
import type { RelayContext } from "../relay-context.ts";
import type { RelayHandshake } from "./relay-handshake.ts";
import { isSameTarget, targetName, targetOfUrl } from "../target.ts";
import type { Target } from "../target.ts";

type Lookup = CommandBodies["lookup"];
type LookupAnswer = CommandBodies["lookupResponse"];

/** Lookups of one client without an answer; then it is not read. Some 500 bytes each. */
const LOOKUPS_MAX = 1_000;

/** Makes the answers to lookups lead to us: a broker's own address would lead past every limit. */
export class RelayLookups {
  readonly #context: RelayContext;
  readonly #handshake: RelayHandshake;
  readonly #asked = new Map<bigint, Lookup>();
  readonly #upstreamNames: readonly Target[];

  /** `upstreamNames`: the addresses that the connected broker is known by. */
  constructor(context: RelayContext, handshake: RelayHandshake, upstreamNames: readonly Target[]) {
    this.#context = context;
    this.#handshake = handshake;
    this.#upstreamNames = upstreamNames;
  }

  lookUp(frame: ClientFrame, lookup: Lookup): void {
    this.#asked.set(lookup.requestId, lookup);
    if (this.#asked.size >= LOOKUPS_MAX) this.#context.gate.block("requests");
    pass(this.#context, frame);
  }

  /** LOOKUP_RESPONSE of the connected broker. */
  onAnswer(frame: BrokerFrame, answer: LookupAnswer): void {
    const lookup = this.#asked.get(answer.requestId);
    if (answer.response === LOOKUP_RESULT.failed || lookup === undefined) {
      this.#settle(answer.requestId);
      forward(this.#context, frame);
      return;
    }
    const owner = this.#ownerIn(answer);
    if (owner === undefined) this.#fail(answer.requestId, this.#noAddress());
    else if (answer.response === LOOKUP_RESULT.redirect) this.#follow(lookup, answer, owner);
    else this.#lead(answer, owner);
  }

  /** The answer to a lookup that was redirected, by the last broker that was asked. */
  onFollowed(answer: LookupAnswer): void {
    if (!this.#asked.has(answer.requestId)) return;
    const owner = this.#ownerIn(answer);
    if (answer.response !== LOOKUP_RESULT.connect) this.#answer(answer);
    else if (owner === undefined) this.#fail(answer.requestId, this.#noAddress());
    else this.#lead(answer, owner);
  }

  endAll(): void {
    this.#asked.clear();
  }

  /** Clients would follow a redirect past us, so that it is followed here. */
  #follow(lookup: Lookup, { authoritative }: LookupAnswer, target: Target): void {
    const { outbox } = this.#context;
    const { connect } = this.#handshake;
    outbox.add({ kind: "named", target });
    outbox.add({ kind: "follow", connect, lookup: { ...lookup, authoritative }, target });
  }

  #lead(answer: LookupAnswer, owner: Target): void {
    this.#context.outbox.add({ kind: "named", target: owner });
    if (this.#handshake.isOwnAddress) this.#leadToOwnAddress(answer, owner);
    else {
      const url = `${this.#context.facts.isUpstreamTls ? "pulsar+ssl" : "pulsar"}://${targetName(owner)}`;
      // Clients take one of both by how they have connected to us, and only its host and port.
      const urls = { brokerServiceUrl: url, brokerServiceUrlTls: url };
      this.#answer({ ...answer, ...urls, proxyThroughServiceUrl: true });
    }
  }

  #leadToOwnAddress(answer: LookupAnswer, owner: Target): void {
    const { serviceUrl, serviceUrlTls } = this.#context.facts;
    // A standalone broker says by this flag that it serves all topics itself.
    const isServedHere =
      answer.proxyThroughServiceUrl === true ||
      this.#upstreamNames.some((name) => isSameTarget(name, owner));
    if (isServedHere) {
      const urls = { brokerServiceUrl: serviceUrl, brokerServiceUrlTls: serviceUrlTls };
      this.#answer({ ...answer, ...urls, proxyThroughServiceUrl: false });
    } else
      this.#fail(
        answer.requestId,
        `broker ${targetName(owner)} serves the topic, and this client cannot ask a gateway for a broker; use a client that follows proxyThroughServiceUrl, or a gateway whose upstream is that broker`,
      );
  }

  #ownerIn({ brokerServiceUrl, brokerServiceUrlTls }: LookupAnswer): Target | undefined {
    return targetOfUrl(this.#context.facts.isUpstreamTls ? brokerServiceUrlTls : brokerServiceUrl);
  }

  #noAddress(): string {
    const { isUpstreamTls } = this.#context.facts;
    const [has, other] = isUpstreamTls ? ["with", "pulsar"] : ["without", "pulsar+ssl"];
    return `the broker that serves the topic has no address ${has} TLS; set upstream to ${other}://`;
  }

  #fail(requestId: bigint, message: string): void {
    const { ServiceNotReady: error } = SERVER_ERROR;
    this.#answer({ requestId, response: LOOKUP_RESULT.failed, error, message });
  }

  #answer(body: LookupAnswer): void {
    this.#settle(body.requestId);
    const bytes = encodeFrame({ kind: "lookupResponse", body });
    this.#context.outbox.add({ kind: "toClient", bytes, isAnswer: true });
  }

  #settle(requestId: bigint): void {
    this.#asked.delete(requestId);
    if (this.#asked.size <= LOOKUPS_MAX >> 1) this.#context.gate.unblock("requests");
  }
}
