import type { LiveProducer, LiveTopic } from "../../../../../src/live/live-message.ts";
import { hatch } from "../../../chart/texture.ts";
import { topicName } from "../../../words/names.ts";
import type { GatewayModel } from "../path-model.ts";
import { badge, gate, wideGate } from "./gate.ts";
import { centerY, stack } from "./geometry.ts";
import type { Box } from "./geometry.ts";
import { drops, flowFill, ribbon } from "./pen.ts";
import type { Brush } from "./pen.ts";
import { notice } from "./permission.ts";

export type BoxOf = (node: string) => Box | undefined;

/** Distance of the gates from the gateway. */
const GATE_AT = 9;
/** What a producer asks for beyond this, in pixels of width, is drawn. */
const EXCESS_LEAST = 0.3;

interface Ingress {
  readonly brush: Brush;
  readonly gateway: GatewayModel;
  readonly boxOf: BoxOf;
  readonly widthOf: (rate: number) => number;
}

/** Producers to topics: what is accepted goes through the slot, what is asked beyond it ends at the gate, hatched. */
export function drawIngress(ingress: Ingress): void {
  const { brush, gateway, boxOf } = ingress;
  const gatewayBox = boxOf("gateway");
  if (gatewayBox === undefined) return;
  const gateX = gatewayBox.left - GATE_AT;
  const numbered = [...gateway.topics]
    .toSorted((a, b) => Number(b.reason !== undefined) - Number(a.reason !== undefined))
    .find(({ limit }) => limit !== undefined);
  for (const topic of gateway.topics) {
    const opening = drawTopic(ingress, topic, gateX);
    if (opening === undefined || topic.limit === undefined) continue;
    const [from, to] = opening;
    gate(
      brush,
      { x: gateX, y: (from + to) / 2 },
      {
        slot: to - from,
        isHot: topic.reason !== undefined,
        number: topic === numbered ? 1 : undefined,
      },
    );
  }
  for (const { group, topics } of gateway.groups) {
    const openings = topics.flatMap((topic) => {
      const opening = drawTopic(ingress, topic, gateX);
      return opening === undefined ? [] : [[opening[0] - 1.5, opening[1] + 1.5] as const];
    });
    if (group.limit !== undefined)
      wideGate(brush, gateX, { openings, isHot: group.reason !== undefined });
  }
  drawOthers(ingress, gatewayBox.left);
  drawNotices(ingress, gatewayBox.left);
}

/** The opening through which a topic's messages pass; undefined if nothing is published to it. */
function drawTopic(
  { brush, gateway, boxOf, widthOf }: Ingress,
  { name }: LiveTopic,
  gateX: number,
): readonly [number, number] | undefined {
  const box = boxOf(`t ${name}`);
  const gatewayLeft = boxOf("gateway")?.left ?? gateX;
  if (box === undefined) return undefined;
  const producers = gateway.producers.filter((one) => topicName(one.topic) === topicName(name));
  const widths = producers.map(({ rate }) => widthOf(rate));
  const center = centerY(box);
  const { centers, height } = stack(widths, center);
  let [above, below] = [center - height / 2 - 3, center + height / 2 + 3];
  for (const [index, producer] of producers.entries()) {
    const from = boxOf(nodeOf(producer));
    const width = widths[index] ?? 0;
    if (from === undefined) continue;
    const start = { x: from.right, y: centerY(from) };
    const end = { x: gateX, y: centers[index] ?? center };
    const excess = excessOf(producer, widthOf);
    if (excess > EXCESS_LEAST) {
      const isAbove = start.y < center + 6;
      const at = isAbove ? (above -= excess) + excess / 2 : (below += excess) - excess / 2;
      const side = (isAbove ? -1 : 1) * (width / 2 + excess / 2);
      drawExcess(brush, { x: start.x, y: start.y + side }, { x: gateX - 2, y: at }, excess);
    }
    if (width === 0) continue;
    ribbon(brush, start, end, { width, fill: flowFill(brush, start, end) });
    ribbon(
      brush,
      end,
      { x: gatewayLeft, y: end.y },
      { width, fill: brush.palette.ink("water", 0.62) },
    );
    drops(brush, start, end, { width, rate: producer.rate, seed: index + name.length * 7 });
  }
  return height === 0 ? [center - 2, center + 2] : [center - height / 2, center + height / 2];
}

function drawExcess(
  brush: Brush,
  from: { readonly x: number; readonly y: number },
  to: { readonly x: number; readonly y: number },
  width: number,
): void {
  const { pen, palette } = brush;
  ribbon(brush, from, to, { width, fill: palette.ink("amber-fill", 0.12) });
  const fill = hatch(pen, palette, { token: "amber-fill", alpha: palette.isDark ? 0.75 : 0.85 });
  ribbon(brush, from, to, { width, fill });
}

/** What is asked for beyond what is accepted, as a width. */
function excessOf(
  { asked, rate, reason }: LiveProducer,
  widthOf: (rate: number) => number,
): number {
  return reason === undefined || asked === undefined
    ? 0
    : Math.max(0, widthOf(asked) - widthOf(rate));
}

/** The producers that are one row together go to the gateway as a whole. */
function drawOthers({ brush, gateway, boxOf, widthOf }: Ingress, gatewayLeft: number): void {
  const from = boxOf("p others");
  const to = boxOf("gateway");
  if (from === undefined || to === undefined || gateway.others === undefined) return;
  const start = { x: from.right, y: centerY(from) };
  const end = { x: gatewayLeft, y: Math.min(to.bottom - 20, start.y) };
  const width = widthOf(gateway.others.rate);
  ribbon(brush, start, end, { width, fill: flowFill(brush, start, end) });
  drops(brush, start, end, { width, rate: gateway.others.rate, seed: 5 });
}

/** Notices go left, to the producers that were told. */
function drawNotices({ brush, gateway, boxOf }: Ingress, gatewayLeft: number): void {
  const told = gateway.producers.filter(
    (one) => one.reason !== undefined && one.told !== undefined,
  );
  for (const [index, producer] of told.entries()) {
    const from = boxOf(nodeOf(producer));
    const topic = [...gateway.topics, ...gateway.groups.flatMap((one) => one.topics)].find(
      ({ name }) => topicName(name) === topicName(producer.topic),
    );
    const to = topic && boxOf(`t ${topic.name}`);
    if (from === undefined || to === undefined) continue;
    const end = { x: from.right, y: from.bottom - 7 };
    notice(brush, { x: gatewayLeft, y: to.bottom - 6 }, end, index);
    if (index === 0) badge(brush, { x: end.x + 20, y: end.y + 1 }, { number: 2, isHot: true });
  }
}

function nodeOf({ topic, name }: LiveProducer): string {
  return `p ${topic} ${name}`;
}
