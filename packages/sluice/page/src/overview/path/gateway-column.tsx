import type { JSX } from "preact";
import type {
  LiveLimit,
  LiveProducer,
  LiveRate,
  LiveTopic,
} from "../../../../src/live/live-message.ts";
import { topicPath } from "../../frame/router.ts";
import { Chip, GateChip } from "../../parts/chip.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Meter } from "../../parts/meter.tsx";
import { StateTag } from "../../parts/state-tag.tsx";
import { topicName } from "../../words/names.ts";
import {
  bytesText,
  countedText,
  countText,
  durationText,
  NOT_KNOWN,
  rateText,
} from "../../words/numbers.ts";
import type { GatewayModel } from "./path-model.ts";

/** Who publishes, and what each asks for. */
export function ProducersColumn({ gateway }: { readonly gateway: GatewayModel }): JSX.Element {
  const { producers, others } = gateway;
  return (
    <div class="col producers">
      <div class="cap">
        Producers <b>asks for</b>
      </div>
      <div class="prods" data-node="producers">
        {producers.length === 0 && others === undefined && (
          <div class="pr">
            <span class="n t3">none yet</span>
            <span class="v">{NOT_KNOWN}</span>
          </div>
        )}
        {producers.map((producer) => (
          <ProducerRow key={`${producer.topic} ${producer.name}`} producer={producer} />
        ))}
        {others !== undefined && (
          <div class="pr" data-node="p others">
            <span class="n">{countedText(others.count, "other")}</span>
            <span class="v num">{rateText(others.rate)}</span>
            <span class="s">together</span>
          </div>
        )}
      </div>
    </div>
  );
}

function ProducerRow({ producer }: { readonly producer: LiveProducer }): JSX.Element {
  const { name, topic, reason, asked, rate, isAskedAtLeast } = producer;
  const wants = `${reason !== undefined && isAskedAtLeast ? "≥ " : ""}${rateText(asked ?? rate)}`;
  return (
    <div
      class={reason === undefined ? "pr" : "pr waits-here"}
      data-node={`p ${topic} ${name}`}
      title={`${name}, to ${topicName(topic)}`}
    >
      <span class="n">{name}</span>
      <span class="v num">{wants}</span>
      <span class="s">
        <ProducerFact {...producer} />
      </span>
    </div>
  );
}

function ProducerFact({ reason, told, heldFrames, isAware, client }: LiveProducer): JSX.Element {
  if (reason !== undefined && told !== undefined)
    return (
      <>
        <Icon name="told" size={11} />
        told to wait {durationText(told.pauseMs)}
      </>
    );
  if (reason !== undefined)
    return (
      <>
        <Icon name="held" size={11} />
        {heldFrames > 0 ? `${countText(heldFrames)} frames held` : "not read"}
      </>
    );
  if (!isAware) return <>{client ?? "unaware"}</>;
  return (
    <>
      <Icon name="told" size={11} />
      aware
    </>
  );
}

/** The limits of the gateway: of all, of groups, of topics. */
export function GatewayColumn({ gateway }: { readonly gateway: GatewayModel }): JSX.Element {
  const { live, topics, groups, topicsLeftOut } = gateway;
  const limited = topics.filter(({ limit }) => limit !== undefined);
  const free = topics.filter(({ limit }) => limit === undefined);
  return (
    <div class="col gateway">
      <div class="cap">
        Gateway <b>accepted of limit</b>
      </div>
      <div class="node gw" data-node="gateway">
        <Level
          name="broker"
          rate={live.rate}
          limit={live.limit}
          isHot={live.reason === "broker-rate"}
          node="broker"
        />
        {limited.map((topic) => (
          <TopicRow key={topic.name} topic={topic} isTall />
        ))}
        {groups.map(({ group, topics: members }) => (
          <div class="group" key={group.name} data-node={`g ${group.name}`}>
            <Level
              name={`group ${group.name}`}
              rate={group.rate}
              limit={group.limit}
              isHot={group.reason !== undefined}
            />
            {members.map((topic) => (
              <TopicRow key={topic.name} topic={topic} isTall={false} isInGroup />
            ))}
            {members.length === 0 && <p class="t3 empty">no topic of it is used</p>}
          </div>
        ))}
        {free.map((topic) => (
          <TopicRow key={topic.name} topic={topic} isTall={false} />
        ))}
        {topicsLeftOut > 0 && <p class="t3 empty">{countedText(topicsLeftOut, "other topic")}</p>}
        {topics.length === 0 && groups.length === 0 && <p class="t3 empty">no topic is used yet</p>}
      </div>
    </div>
  );
}

function Level({
  name,
  rate,
  limit,
  isHot,
  node,
}: {
  readonly name: string;
  readonly rate: LiveRate;
  readonly limit: LiveLimit | undefined;
  readonly isHot: boolean;
  readonly node?: string;
}): JSX.Element {
  return (
    <div class="level" data-node={node}>
      <span class="label">{name}</span>
      <Use rate={rate} limit={limit} />
      <UseMeter name={name} rate={rate} limit={limit} isHot={isHot} />
    </div>
  );
}

function TopicRow({
  topic,
  isTall,
  isInGroup = false,
}: {
  readonly topic: LiveTopic;
  readonly isTall: boolean;
  readonly isInGroup?: boolean;
}): JSX.Element {
  const { name, rate, limit, reason, waiting } = topic;
  return (
    <a
      class={isTall ? "tp tall" : "tp"}
      data-node={`t ${name}`}
      href={topicPath(name)}
      title={name}
    >
      <span class="n">
        <span class="name">{isInGroup ? name.split("/").at(-1) : topicName(name)}</span>
        {!isTall && reason !== undefined && <Chip reason={reason} small />}
      </span>
      <Use rate={rate} limit={limit} isShort={isInGroup} />
      {isTall && (
        <>
          <UseMeter name={topicName(name)} rate={rate} limit={limit} isHot={reason !== undefined} />
          <span class="w">
            {reason === undefined ? (
              <StateTag state={rate.messages < 0.05 ? "idle" : "flowing"} />
            ) : (
              <>
                <GateChip state="throttled" reason={reason} />
                <span>
                  {countText(waiting)} {waiting === 1 ? "waits" : "wait, in fair turns"}
                </span>
              </>
            )}
          </span>
        </>
      )}
    </a>
  );
}

/** "1,000 of 1,000/s", in the unit of the limit. */
function Use({
  rate,
  limit,
  isShort = false,
}: {
  readonly rate: LiveRate;
  readonly limit: LiveLimit | undefined;
  /** Without the words "no limit": its group has one. */
  readonly isShort?: boolean;
}): JSX.Element {
  if (limit?.messages !== undefined)
    return (
      <span class="v num">
        <b>{countText(rate.messages)}</b> of {rateText(limit.messages)}
      </span>
    );
  if (limit?.bytes !== undefined)
    return (
      <span class="v num">
        <b>{bytesText(rate.bytes)}</b> of {bytesText(limit.bytes)}/s
      </span>
    );
  return (
    <span class="v num">
      <b>{rateText(rate.messages)}</b>
      {!isShort && <span class="t3"> no limit</span>}
    </span>
  );
}

function UseMeter({
  name,
  rate,
  limit,
  isHot,
}: {
  readonly name: string;
  readonly rate: LiveRate;
  readonly limit: LiveLimit | undefined;
  readonly isHot: boolean;
}): JSX.Element | null {
  const label = `${name}: accepted against limit`;
  if (limit?.messages !== undefined)
    return <Meter value={rate.messages} limit={limit.messages} hot={isHot} label={label} />;
  if (limit?.bytes === undefined) return null;
  return <Meter value={rate.bytes} limit={limit.bytes} hot={isHot} label={label} />;
}
