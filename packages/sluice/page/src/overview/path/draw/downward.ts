import type { Palette } from "../../../chart/palette.ts";
import { centerX } from "./geometry.ts";
import type { Box } from "./geometry.ts";
import type { Brush } from "./pen.ts";

/** On a narrow page the path goes down: a link between two boxes, one below the other. */
export function drawDown(
  { pen, palette, seconds }: Brush,
  from: Box,
  to: Box,
  { width, rate }: { readonly width: number; readonly rate: number },
): void {
  /** Room for the caption of the lower box. */
  const [top, bottom, x] = [from.bottom + 3, to.top - 24, centerX(to)];
  if (bottom - top < 6) return;
  const wide = Math.max(2.5, Math.min(12, width));
  pen.fillStyle = palette.ink("water", palette.isDark ? 0.4 : 0.5);
  pen.fillRect(x - wide / 2, top, wide, bottom - top);
  if (rate >= 0.05) {
    pen.fillStyle = palette.isDark ? "#def3ff" : "#ffffff";
    for (const start of [0, 1 / 3, 2 / 3]) {
      const part = (start + seconds * 1.4) % 1;
      pen.globalAlpha = Math.min(1, part * 5, (1 - part) * 5);
      pen.fillRect(x - 0.7, top + part * (bottom - top) - 2, 1.4, 4.4);
    }
    pen.globalAlpha = 1;
  }
  arrowHead(pen, palette, x, bottom);
}

/** From the gateway down to a source that stands aside. */
export function drawBend(
  { pen, palette }: Brush,
  from: Box,
  to: Box,
  { width }: { readonly width: number; readonly rate: number },
): void {
  const [startX, endX, endY] = [from.left + 40, centerX(to), to.top - 26];
  const middle = (from.bottom + endY) / 2;
  pen.strokeStyle = palette.ink("water", 0.55);
  pen.lineWidth = Math.max(2.5, Math.min(14, width));
  pen.beginPath();
  pen.moveTo(startX, from.bottom + 1);
  pen.bezierCurveTo(startX, middle + 14, endX, middle - 14, endX, endY);
  pen.stroke();
  arrowHead(pen, palette, endX, endY + 5);
}

function arrowHead(pen: CanvasRenderingContext2D, palette: Palette, x: number, y: number): void {
  pen.fillStyle = palette.ink("water");
  pen.beginPath();
  pen.moveTo(x - 4.5, y - 6);
  pen.lineTo(x + 4.5, y - 6);
  pen.lineTo(x, y);
  pen.fill();
}
