import { palette } from "../../../chart/palette.ts";
import { litGate } from "../../lit-gate.ts";
import type { PathModel } from "../path-model.ts";
import { drawChain, drawReading } from "./chain-flow.ts";
import { drawBend, drawDown } from "./downward.ts";
import { widthScale } from "./geometry.ts";
import type { Box } from "./geometry.ts";
import { drawIngress } from "./ingress.ts";
import type { Brush } from "./pen.ts";

/** Draws the water between the boxes of the picture. Boxes are found by `data-node` and measured when they change. */
export class PathPainter {
  /** Whether frames are drawn anyway, by `animate`. */
  isMoving = false;
  readonly #canvas: HTMLCanvasElement;
  readonly #picture: HTMLElement;
  #model: PathModel | undefined;
  #boxes: ReadonlyMap<string, Box> = new Map();
  #size = { width: 0, height: 0 };
  #shape = "";
  #seconds = 2.37;
  #widthOf: (rate: number) => number = widthScale(1);

  constructor(canvas: HTMLCanvasElement, picture: HTMLElement) {
    this.#canvas = canvas;
    this.#picture = picture;
  }

  show(model: PathModel): void {
    this.#model = model;
    const { gateway, chains } = model;
    const rates = [
      ...(gateway?.live.topics.map((topic) => Math.max(topic.rate.messages, topic.asked)) ?? []),
      ...chains.flatMap(({ vertices }) => vertices.map(({ rate }) => rate)),
    ];
    this.#widthOf = widthScale(Math.max(1, ...rates));
    const shape = shapeOf(model);
    if (shape !== this.#shape) this.measure();
    // While the drops move, the next frame is 33 ms away.
    else if (!this.isMoving) this.draw();
    this.#shape = shape;
  }

  measure(): void {
    const origin = this.#picture.getBoundingClientRect();
    const boxes = new Map<string, Box>();
    for (const element of this.#picture.querySelectorAll<HTMLElement>("[data-node]")) {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      boxes.set(element.dataset["node"] ?? "", {
        left: left - origin.left,
        right: right - origin.left,
        top: top - origin.top,
        bottom: bottom - origin.top,
      });
    }
    this.#boxes = boxes;
    this.#size = { width: origin.width, height: origin.height };
    this.draw();
  }

  /** Draws once; without a time the drops stay where they are. */
  draw(seconds: number = this.#seconds): void {
    this.#seconds = seconds;
    const pen = this.#clearedPen();
    if (pen === undefined || this.#model === undefined) return;
    const brush: Brush = { pen, palette: palette.peek(), seconds, lit: litGate.peek() };
    const boxOf = (node: string): Box | undefined => this.#boxes.get(node);
    const flow = { brush, boxOf, widthOf: this.#widthOf };
    const { gateway, chains } = this.#model;
    const [from, to] = [boxOf("producers"), boxOf("gateway")];
    const isNarrow = from !== undefined && to !== undefined && to.top > from.bottom;
    if (gateway !== undefined && !isNarrow) {
      drawReading(flow, gateway, chains);
      drawIngress({ ...flow, gateway });
    }
    if (gateway !== undefined && isNarrow)
      drawDown(brush, from, to, this.#wide(gateway.live.rate.messages));
    for (const pipeline of chains)
      if (this.#isDown(pipeline.name, pipeline.vertices)) this.#drawDownward(brush, pipeline.name);
      else {
        drawChain(flow, pipeline);
        this.#joinBelow(brush, pipeline.name);
      }
  }

  /** A chain that stands below the gateway begins with a link from it. */
  #joinBelow(brush: Brush, pipeline: string): void {
    const gateway = this.#boxes.get("gateway");
    const found = this.#model?.chains.find(({ name }) => name === pipeline);
    const [source] = found?.vertices ?? [];
    const to = source && this.#boxes.get(`v ${pipeline} ${source.name}`);
    if (gateway === undefined || to === undefined || source === undefined) return;
    if (to.top > gateway.bottom) drawBend(brush, gateway, to, this.#wide(source.rate));
  }

  #isDown(pipeline: string, vertices: readonly { readonly name: string }[]): boolean {
    const [first, second] = vertices.map(({ name }) => this.#boxes.get(`v ${pipeline} ${name}`));
    return first !== undefined && second !== undefined && second.top > first.bottom;
  }

  #drawDownward(brush: Brush, pipeline: string): void {
    const found = this.#model?.chains.find(({ name }) => name === pipeline);
    if (found === undefined) return;
    const nodes = [
      "gateway",
      ...found.vertices.map(({ name }) => `v ${pipeline} ${name}`),
      `s ${pipeline}`,
    ];
    const pool = this.#boxes.get(`pool ${pipeline}`);
    for (const [index, node] of nodes.entries()) {
      const from = this.#boxes.get(node);
      const to = this.#boxes.get(nodes[index + 1] ?? "");
      const rate = found.vertices[Math.max(0, index - 1)]?.rate ?? 0;
      if (from === undefined || to === undefined) continue;
      // The pool may stand between two nodes.
      const start =
        pool !== undefined && pool.top > from.bottom && pool.bottom < to.top ? pool : from;
      drawDown(brush, start, to, this.#wide(rate));
    }
  }

  #wide(rate: number): { readonly width: number; readonly rate: number } {
    return { width: this.#widthOf(rate), rate };
  }

  #clearedPen(): CanvasRenderingContext2D | undefined {
    const { width, height } = this.#size;
    const pen = this.#canvas.getContext("2d");
    if (pen === null || width === 0) return undefined;
    const scale = devicePixelRatio;
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.#canvas.width !== wide) this.#canvas.width = wide;
    if (this.#canvas.height !== high) this.#canvas.height = high;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    return pen;
  }
}

/** What decides where the boxes stand, apart from the size of the page: measuring makes the browser lay it out. */
function shapeOf({ gateway, chains }: PathModel): string {
  const topics = [
    ...(gateway?.topics ?? []),
    ...(gateway?.groups.flatMap((one) => one.topics) ?? []),
  ];
  return JSON.stringify([
    gateway?.producers.map(({ topic, name }) => [topic, name]),
    gateway?.others === undefined,
    gateway?.live.limit === undefined,
    topics.map(({ name, limit }) => [name, limit === undefined]),
    gateway?.groups.map(({ group }) => [group.name, group.limit === undefined]),
    gateway?.topicsLeftOut === 0,
    chains.map(({ name, status, vertices }) => [
      name,
      status,
      vertices.map((one) => [one.name, one.share === undefined, one.gate === undefined]),
    ]),
  ]);
}
