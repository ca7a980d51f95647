import type { Clock } from "@sluice/core";
import { parseTopicName } from "../../name/topic-name.ts";
import type { WaitingSnapshot } from "../../observe/waiting.ts";
import type { BrokerAdministration } from "../../broker/administration.ts";
import type { LimitBook } from "../../limit-book/limit-book.ts";
import type { AdminAddition } from "../admin-addition.ts";
import type { AdministeredGateway } from "../administered-broker.ts";
import { json } from "../http/answer.ts";
import type { Route } from "../http/router.ts";
import { shortTopic } from "./setting.ts";
import type { PlaceOf } from "./setting.ts";
import { nothingCalled } from "./unknown-name.ts";
import { whyAnswer } from "./why.ts";
import type { FlowingProducer } from "./why.ts";

/** Topics whose other producers are looked up for one answer. */
const LOOKED_UP_MAX = 20;
/** Producers of such a topic; with more, those that do not wait are not told. Raised, an answer takes longer to make. */
const PRODUCERS_MAX = 200;
/** Rates of producers are counted once a minute: the rate of a younger producer is 0, also if it publishes. */
const RATES_EVERY_MS = 60_000;

/** Names that a mistyped one is compared with. */
const NAMES_MAX = 100;

const NOT_KNOWN: ReadonlyMap<string, readonly FlowingProducer[]> = new Map();

type Why = Pick<AdministeredGateway, "limitBook" | "throttling">;

interface WhyWorld {
  readonly wallClock: Clock;
  readonly placeOf: PlaceOf;
  readonly addition: AdminAddition;
}

/** What waits now and why, of all topics or of one. `broker` knows the producers that do not wait. */
export function whyRoutes(
  { limitBook: limits, throttling }: Why,
  broker: BrokerAdministration | undefined,
  { wallClock, placeOf, addition }: WhyWorld,
): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/why",
      handle: async (request) => {
        request.requireKnownQuery(["topic", "name"]);
        const name = request.query("name");
        const all = ofTopic(throttling.waiting(), request.query("topic"));
        if (name !== undefined && !isKnown(name, all, { limits, broker, addition }))
          throw nothingCalled(name, [...addition.names(), ...gatewayNames(limits, broker)]);
        const snapshot = name === undefined ? all : ofName(all, name, addition);
        const wallMs = wallClock.now();
        const flowing =
          broker === undefined ? NOT_KNOWN : await flowingOf(broker, snapshot, wallMs);
        const nowMs = throttling.now();
        const answer = whyAnswer({ snapshot, limits, placeOf, nowMs, wallMs, flowing });
        return json({ ...answer, ...addition.why(name) });
      },
    },
  ];
}

/** A connection that is not read holds up all topics on it, so all of them are kept. */
function ofTopic(all: WaitingSnapshot, name: string | undefined): WaitingSnapshot {
  if (name === undefined || name === "") return all;
  const { full } = parseTopicName(name);
  const topics = all.topics.filter(({ topic }) => topic === full || isPartition(topic, full));
  return { ...all, topics };
}

interface Named {
  readonly limits: LimitBook;
  readonly broker: BrokerAdministration | undefined;
  readonly addition: AdminAddition;
}

/** Topics of a cluster are not known here, so any of their names is one. */
function isKnown(
  name: string,
  { topics }: WaitingSnapshot,
  { limits, broker, addition }: Named,
): boolean {
  if (addition.knows(name) || limits.get({ level: "group", name }) !== undefined) return true;
  if (!isTopicName(name)) return false;
  const { full } = parseTopicName(name);
  if (broker === undefined || broker.hasTopic(full) || broker.partitionsOf(full) > 0) return true;
  return (
    limits.get({ level: "topic", name: full }) !== undefined ||
    topics.some(({ topic }) => topic === full)
  );
}

/** Groups and topics, some of them if there are many. */
function gatewayNames(
  limits: LimitBook,
  broker: BrokerAdministration | undefined,
): readonly string[] {
  const groups = limits
    .list()
    .flatMap(({ target }) => (target.level === "group" ? target.name : []));
  const topics = (broker?.namespaces() ?? [])
    .slice(0, NAMES_MAX)
    .flatMap((namespace) => broker?.topicsOf(namespace).slice(0, NAMES_MAX) ?? []);
  return [...groups, ...topics.map(shortTopic)].slice(0, NAMES_MAX);
}

/** A name may be that of a topic, of a group, or of something that the addition has, such as a vertex. */
function ofName(all: WaitingSnapshot, name: string, addition: AdminAddition): WaitingSnapshot {
  const known = addition.knows(name);
  const ofGroup = all.topics.filter(({ limiter }) => limiter === `group ${name}`);
  if (ofGroup.length > 0) return { ...all, topics: ofGroup, connections: [] };
  if (!isTopicName(name)) return { ...all, topics: [], connections: [] };
  const found = ofTopic(all, name);
  return known && found.topics.length === 0 ? { ...found, connections: [] } : found;
}

function isTopicName(name: string): boolean {
  try {
    parseTopicName(name);
    return true;
  } catch {
    return false;
  }
}

function isPartition(topic: string, of: string): boolean {
  return parseTopicName(topic).partition?.of === of;
}

async function flowingOf(
  broker: BrokerAdministration,
  { topics }: WaitingSnapshot,
  wallMs: number,
): Promise<ReadonlyMap<string, readonly FlowingProducer[]>> {
  const names = topics.filter(({ reason }) => reason === "topic-rate").map(({ topic }) => topic);
  const found = new Map<string, readonly FlowingProducer[]>();
  for (const topic of [...new Set(names)].slice(0, LOOKED_UP_MAX)) {
    if (!broker.hasTopic(topic) || broker.partitionsOf(topic) > 0) continue;
    const { producers, producerCount } = await broker.statsOf(topic, PRODUCERS_MAX);
    if (producerCount > producers.length) continue;
    found.set(
      topic,
      producers
        .filter(
          ({ connectedAtMs, in: { messages, messagesPerSecond } }) =>
            messagesPerSecond > 0 || (messages > 0 && wallMs - connectedAtMs < RATES_EVERY_MS),
        )
        .map(({ name, in: { messagesPerSecond } }) => ({
          name,
          ...(messagesPerSecond > 0 && { asked: Math.round(messagesPerSecond) }),
        })),
    );
  }
  return found;
}
