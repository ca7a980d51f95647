import type { LivePipeline, LiveVertex } from "../../../../../src/live/live-message.ts";
import { topicName } from "../../../words/names.ts";
import type { GatewayModel } from "../path-model.ts";
import { gate } from "./gate.ts";
import { centerX, centerY } from "./geometry.ts";
import type { Box, Point } from "./geometry.ts";
import type { BoxOf } from "./ingress.ts";
import { drops, fadeFill, flowFill, ribbon } from "./pen.ts";
import type { Brush } from "./pen.ts";
import { dotted } from "./permission.ts";

/** Where the flow passes a node, from its top: the line of its rate. */
const LINE_AT = 68;
const GATE_AT = 9;
/** Two gates need this much room between two nodes. */
const TWO_GATES = 44;

interface ChainFlow {
  readonly brush: Brush;
  readonly boxOf: BoxOf;
  readonly widthOf: (rate: number) => number;
}

/** The vertices of a pipeline and the service behind it. */
export function drawChain(flow: ChainFlow, pipeline: LivePipeline): void {
  const { brush, boxOf } = flow;
  const { vertices, name } = pipeline;
  for (const [index, vertex] of vertices.entries()) {
    const next = vertices[index + 1];
    const from = boxOf(`v ${name} ${vertex.name}`);
    const to = next && boxOf(`v ${name} ${next.name}`);
    if (from === undefined || to === undefined || next === undefined) continue;
    link(flow, from, to, { rate: passed(vertex), seed: 11 + index });
  }
  drawService(flow, pipeline);
  const pool = boxOf(`pool ${name}`);
  const shared = vertices.filter(({ share }) => share !== undefined);
  for (const vertex of shared) {
    const box = boxOf(`v ${name} ${vertex.name}`);
    if (pool === undefined || box === undefined || pool.top < box.bottom) continue;
    dotted(brush, [
      { x: centerX(box), y: pool.top },
      { x: centerX(box), y: box.bottom + 1 },
    ]);
  }
}

function passed({ rate, droppedRate }: LiveVertex): number {
  return Math.max(0, rate - droppedRate);
}

function link(
  { brush, widthOf }: ChainFlow,
  from: Box,
  to: Box,
  { rate, seed }: { readonly rate: number; readonly seed: number },
): void {
  const [start, end] = ends(from, to);
  const width = Math.max(2, widthOf(rate));
  ribbon(brush, start, end, { width, fill: flowFill(brush, start, end) });
  drops(brush, start, end, { width, rate, seed });
}

function ends(from: Box, to: Box): readonly [Point, Point] {
  return [
    { x: from.right, y: from.top + LINE_AT },
    { x: to.left, y: to.top + LINE_AT },
  ];
}

/** The gates 4 and 5 stand before the service; its answers open and close them. */
function drawService(flow: ChainFlow, { name, vertices }: LivePipeline): void {
  const { brush, boxOf, widthOf } = flow;
  const sink = vertices.at(-1);
  const from = sink && boxOf(`v ${name} ${sink.name}`);
  const to = boxOf(`s ${name}`);
  if (sink?.gate === undefined || from === undefined || to === undefined) return;
  const { reason } = sink;
  const rate = sink.gate.sent;
  link(flow, from, to, { rate, seed: 13 });
  const slot = Math.max(2, widthOf(rate));
  const isClosed = sink.gate.pause !== undefined;
  const isBusy = reason === "peer-busy" || reason === "retry-after";
  const isFull = reason === "concurrency" || reason === "rate";
  const y = from.top + LINE_AT;
  const at = (part: number): Point => ({ x: from.right + (to.left - from.right) * part, y });
  if (to.left - from.right < TWO_GATES)
    gate(brush, at(0.5), { slot, isClosed, isHot: isBusy || isFull, number: isFull ? 5 : 4 });
  else {
    gate(brush, at(0.3), { slot, isClosed, isHot: isBusy, number: 4 });
    gate(brush, at(0.7), { slot, isHot: isFull, number: 5 });
  }
  const answers = boxOf(`a ${name}`);
  if (answers === undefined || answers.top < to.bottom) return;
  dotted(brush, [
    { x: centerX(to), y: to.bottom },
    { x: centerX(answers), y: answers.top },
  ]);
  const middle = at(0.5).x;
  dotted(brush, [
    { x: answers.left, y: centerY(answers) },
    { x: middle, y: centerY(answers) },
    { x: middle, y: y + 22 },
  ]);
}

/** From the topics to the sources that read them; a topic that no pipeline here reads thins out. */
export function drawReading(
  flow: ChainFlow,
  gateway: GatewayModel,
  chains: readonly LivePipeline[],
): void {
  const { brush, boxOf, widthOf } = flow;
  const gatewayBox = boxOf("gateway");
  if (gatewayBox === undefined) return;
  const topics = [...gateway.topics, ...gateway.groups.flatMap((one) => one.topics)];
  for (const { name, rate } of topics) {
    const box = boxOf(`t ${name}`);
    if (box === undefined) continue;
    const start = { x: gatewayBox.right, y: centerY(box) };
    const readers = chains.filter(({ vertices }) => isSameTopic(vertices[0]?.peer, name));
    for (const { name: pipeline, vertices } of readers) {
      const [source] = vertices;
      const to = source && boxOf(`v ${pipeline} ${source.name}`);
      if (source !== undefined && to !== undefined && to.left > gatewayBox.right)
        drawSource(flow, start, to, source);
    }
    if (readers.length > 0) continue;
    const end = { x: start.x + 44, y: start.y };
    const width = widthOf(rate.messages);
    if (width > 0) ribbon(brush, start, end, { width, fill: fadeFill(brush, start, end) });
  }
}

function isSameTopic(peer: string | undefined, topic: string): boolean {
  return peer !== undefined && topicName(peer) === topicName(topic);
}

/** This member's part goes on; the part of the other members leaves downward. */
function drawSource(
  { brush, widthOf }: ChainFlow,
  start: Point,
  to: Box,
  source: LiveVertex,
): void {
  const { rate, share, reason } = source;
  const others = Math.max(0, (share?.members ?? 1) - 1);
  const own = Math.max(2, widthOf(rate));
  const gateX = to.left - GATE_AT;
  const end = { x: gateX, y: to.top + LINE_AT };
  ribbon(brush, start, end, { width: own, fill: flowFill(brush, start, end) });
  ribbon(
    brush,
    end,
    { x: to.left, y: end.y },
    { width: own, fill: brush.palette.ink("water", 0.62) },
  );
  drops(brush, start, end, { width: own, rate, seed: 3 });
  if (others > 0) drawOtherMembers(brush, { x: start.x, y: start.y + own / 2 + 2 }, others);
  if (share !== undefined)
    gate(brush, end, {
      slot: own,
      isClosed: rate < 0.05 && reason !== undefined,
      isHot: reason !== undefined && source.behind === undefined,
      number: 3,
    });
}

function drawOtherMembers(brush: Brush, from: Point, count: number): void {
  const { pen, palette } = brush;
  const end = { x: from.x + 34, y: from.y + 46 };
  pen.strokeStyle = fadeFill(brush, from, end);
  pen.lineWidth = 7;
  pen.beginPath();
  pen.moveTo(from.x, from.y + 4);
  pen.bezierCurveTo(from.x + 26, from.y + 4, end.x, from.y + 10, end.x, end.y);
  pen.stroke();
  pen.fillStyle = palette.ink("text-3");
  pen.font = palette.font(10.5);
  pen.textAlign = "center";
  pen.fillText(`${count} other`, end.x, end.y + 14);
  pen.fillText(count === 1 ? "member" : "members", end.x, end.y + 26);
}
