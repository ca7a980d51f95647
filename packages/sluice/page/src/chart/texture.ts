import type { Reason } from "@sluice/core";
import { REASON_LOOKS } from "../words/reasons.ts";
import type { Texture } from "../words/reasons.ts";
import type { Palette, Token } from "./palette.ts";

/** The side of a tile, in CSS pixels. */
const TILE = 8;

type Pen = CanvasRenderingContext2D;
type Line = readonly [number, number, number, number];

const DIAGONAL: readonly Line[] = [
  [-2, 10, 10, -2],
  [-6, 6, 6, -6],
  [2, 14, 14, 2],
];

const LINES: Readonly<Record<Texture, readonly Line[]>> = {
  solid: [],
  slash: DIAGONAL,
  "wide-slash": DIAGONAL,
  backslash: [
    [-2, -2, 10, 10],
    [-6, 2, 6, 14],
    [2, -6, 14, 6],
    [-2, 2, 6, 10],
    [2, -2, 10, 6],
  ],
  grid: [
    [0, 2, 8, 2],
    [0, 6, 8, 6],
    [2, 0, 2, 8],
    [6, 0, 6, 8],
  ],
  crossed: [
    [-2, 10, 10, -2],
    [-2, -2, 10, 10],
  ],
  horizontal: [
    [0, 2, 8, 2],
    [0, 6, 8, 6],
  ],
  vertical: [
    [2, 0, 2, 8],
    [6, 0, 6, 8],
  ],
  zigzag: [
    [0, 2, 4, 6],
    [4, 6, 8, 2],
  ],
  dots: [],
  "big-dots": [],
};

const DOTS: Partial<Readonly<Record<Texture, number>>> = { dots: 1.2, "big-dots": 1.9 };

/** A pattern copies its tile when it is made; any canvas can fill with it afterwards. */
const patterns = new WeakMap<Palette, Map<string, CanvasPattern>>();

/** The fill of a reason's band. */
export function reasonFill(pen: Pen, palette: Palette, reason: Reason): CanvasPattern | string {
  const { color, texture } = REASON_LOOKS[reason];
  const drawTile = (tile: Pen): void => {
    tile.fillStyle = palette.ink(color);
    tile.fillRect(0, 0, TILE, TILE);
    const over = palette.ink("surface", palette.isDark ? 0.5 : 0.55);
    tile.strokeStyle = over;
    tile.fillStyle = over;
    tile.lineWidth = texture === "wide-slash" ? 3 : 1.4;
    for (const line of LINES[texture]) stroke(tile, line);
    const radius = DOTS[texture];
    if (radius !== undefined)
      for (const at of [2, 6]) {
        tile.beginPath();
        tile.arc(at, at, radius, 0, 2 * Math.PI);
        tile.fill();
      }
  };
  return pattern(pen, palette, { key: reason, size: TILE, drawTile }) ?? palette.ink(color);
}

/** Thin slanted lines: what is asked for beyond a limit, a time without a store, the future. */
export function hatch(
  pen: Pen,
  palette: Palette,
  {
    token,
    alpha = 1,
    gap = 5,
  }: { readonly token: Token; readonly alpha?: number; readonly gap?: number },
): CanvasPattern | string {
  const drawTile = (tile: Pen): void => {
    tile.strokeStyle = palette.ink(token, alpha);
    tile.lineWidth = 1.1;
    for (const start of [-gap, 0, gap]) stroke(tile, [start - 1, gap + 1, start + gap + 1, -1]);
  };
  const key = `${token} ${alpha} ${gap}`;
  return pattern(pen, palette, { key, size: gap, drawTile }) ?? palette.ink(token, alpha);
}

function pattern(
  pen: Pen,
  palette: Palette,
  {
    key,
    size,
    drawTile,
  }: { readonly key: string; readonly size: number; readonly drawTile: (tile: Pen) => void },
): CanvasPattern | undefined {
  const scale = devicePixelRatio;
  const known = patterns.get(palette) ?? new Map<string, CanvasPattern>();
  patterns.set(palette, known);
  const scaledKey = `${key} ${scale}`;
  const found = known.get(scaledKey);
  if (found !== undefined) return found;
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(size * scale);
  const tilePen = tile.getContext("2d");
  if (tilePen === null) return undefined;
  tilePen.scale(scale, scale);
  drawTile(tilePen);
  const made = pen.createPattern(tile, "repeat");
  if (made === null) return undefined;
  made.setTransform(new DOMMatrix().scale(1 / scale));
  known.set(scaledKey, made);
  return made;
}

function stroke(pen: Pen, [fromX, fromY, toX, toY]: Line): void {
  pen.beginPath();
  pen.moveTo(fromX, fromY);
  pen.lineTo(toX, toY);
  pen.stroke();
}
