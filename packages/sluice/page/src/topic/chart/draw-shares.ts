import { rimmedText } from "../../chart/canvas.tsx";
import type { Sheet } from "../../chart/canvas.tsx";
import { marksUpTo } from "../../chart/scale.ts";
import { countText, rateText } from "../../words/numbers.ts";
import { drawBands } from "./draw-bands.ts";
import { frameOf, line, SPAN_MS, WIDE, xAt } from "./shares-frame.ts";
import type { Frame, SharesPicture } from "./shares-frame.ts";

export function drawShares(sheet: Sheet, picture: SharesPicture): void {
  const frame = frameOf(sheet.width, sheet.height, picture.most);
  drawAxes(sheet, frame, picture.most);
  drawFutureGround(sheet, frame);
  drawBands(sheet, frame, picture);
  drawAsked(sheet, frame, picture);
  drawLimits(sheet, frame, picture);
  drawCursor(sheet, frame, picture);
}

function drawAxes(
  { pen, palette: { ink, font }, width, height }: Sheet,
  frame: Frame,
  most: number,
): void {
  pen.font = font(11);
  pen.lineWidth = 1;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const value of [0, ...marksUpTo(most)]) {
    const y = Math.round(frame.y(value)) + 0.5;
    pen.strokeStyle = ink(value === 0 ? "line-strong" : "line");
    line(pen, frame.left, y, frame.right, y);
    pen.fillStyle = ink("text-3");
    pen.fillText(countText(value), frame.left - 8, y);
  }
  pen.textBaseline = "alphabetic";
  pen.textAlign = "center";
  for (const minutes of width < WIDE ? [2] : [4, 3, 2, 1])
    pen.fillText(
      `−${minutes} min`,
      Math.max(frame.left + 16, xAt(frame, minutes * 60_000)),
      height - 5,
    );
  pen.fillText("now", frame.nowX, height - 5);
  pen.textAlign = "right";
  pen.fillText("+1 min", frame.right, height - 5);
}

function drawFutureGround({ pen, palette: { ink, isDark } }: Sheet, frame: Frame): void {
  pen.fillStyle = ink("water", isDark ? 0.06 : 0.05);
  pen.fillRect(frame.nowX, frame.top, frame.right - frame.nowX, frame.bottom - frame.top);
}

function drawAsked(sheet: Sheet, frame: Frame, picture: SharesPicture): void {
  const {
    pen,
    palette: { ink, font },
    width,
  } = sheet;
  const { stack, nowMs, asked, isLimited, isAskedAtLeast } = picture;
  pen.setLineDash([2, 3]);
  pen.strokeStyle = ink(isLimited ? "amber-fill" : "text-3");
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const [at, atMs] of stack.atMs.entries()) {
    const value = stack.asked[at];
    if (value !== undefined && nowMs - atMs <= SPAN_MS)
      pen.lineTo(xAt(frame, nowMs - atMs), frame.y(value));
  }
  pen.lineTo(frame.nowX, frame.y(asked));
  pen.lineTo(frame.right, frame.y(asked));
  pen.stroke();
  pen.setLineDash([]);
  if (!isLimited) return;
  pen.font = font(11.5);
  pen.fillStyle = ink("amber");
  pen.textAlign = "right";
  const least = isAskedAtLeast ? "at least " : "";
  const text =
    width < WIDE
      ? `${isAskedAtLeast ? "≥ " : ""}${rateText(asked)}`
      : `asked for ${least}${rateText(asked)}`;
  rimmedText(sheet, text, frame.nowX - 8, Math.max(frame.top + 10, frame.y(asked) - 10));
}

function drawLimits(sheet: Sheet, frame: Frame, picture: SharesPicture): void {
  const {
    pen,
    palette: { ink, font },
  } = sheet;
  const { stack, nowMs, limit, tried } = picture;
  pen.strokeStyle = ink("text");
  pen.lineWidth = 1.6;
  pen.setLineDash([6, 4]);
  pen.beginPath();
  let isDown = false;
  for (const [at, atMs] of stack.atMs.entries()) {
    const value = stack.limit[at];
    if (nowMs - atMs > SPAN_MS) continue;
    const x = xAt(frame, nowMs - atMs);
    if (value === undefined) isDown = false;
    else if (isDown) pen.lineTo(x, frame.y(value));
    else pen.moveTo(x, frame.y(value));
    isDown = value !== undefined;
  }
  if (limit !== undefined && isDown) pen.lineTo(frame.nowX, frame.y(limit));
  pen.stroke();
  pen.setLineDash([]);
  pen.textAlign = "left";
  if (limit !== undefined) {
    pen.font = font(11.5, 500);
    pen.fillStyle = ink("text");
    rimmedText(sheet, `limit ${rateText(limit)}`, frame.left + 8, frame.y(limit) - 6);
  }
  pen.strokeStyle = ink("water");
  pen.lineWidth = 2;
  if (tried !== undefined) line(pen, frame.nowX, frame.y(tried), frame.right, frame.y(tried));
  pen.strokeStyle = ink("text-2");
  pen.lineWidth = 1;
  line(pen, Math.round(frame.nowX) + 0.5, frame.top, Math.round(frame.nowX) + 0.5, frame.bottom);
  pen.font = font(11);
  pen.fillStyle = ink("text-3");
  pen.fillText(
    tried === limit ? "if nothing changes" : "if applied now",
    frame.nowX + 8,
    frame.top + 10,
  );
}

function drawCursor(
  { pen, palette: { ink } }: Sheet,
  frame: Frame,
  { cursorAtMs, nowMs }: SharesPicture,
): void {
  if (cursorAtMs === undefined || cursorAtMs > nowMs || nowMs - cursorAtMs > SPAN_MS) return;
  const x = Math.round(xAt(frame, nowMs - cursorAtMs)) + 0.5;
  pen.strokeStyle = ink("text-2");
  pen.lineWidth = 1;
  line(pen, x, frame.top, x, frame.bottom);
}
