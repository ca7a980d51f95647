import type { Stack } from "../model/stack.ts";
import type { BandLook } from "./band-look.ts";

/** What the chart shows: the past, and what a limit would make of the present demand. */
export interface SharesPicture {
  readonly stack: Stack;
  readonly looks: readonly BandLook[];
  readonly nowMs: number;
  /** What each band would get, in the order of the bands. */
  readonly future: readonly number[];
  readonly asked: number;
  readonly isAskedAtLeast: boolean;
  readonly isLimited: boolean;
  readonly limit: number | undefined;
  /** The limit that is tried; undefined without one. */
  readonly tried: number | undefined;
  readonly most: number;
  readonly cursorAtMs: number | undefined;
}

/** The past on the chart, ms; the future is a minute. */
export const SPAN_MS = 240_000;
const LEFT = 44;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 22;
/** From here on all words fit; below it they are short, px. */
export const WIDE = 500;

/** Where things stand: the handle and the pointer need it too. */
export interface Frame {
  readonly nowX: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly y: (value: number) => number;
  readonly valueAt: (y: number) => number;
}

export function frameOf(width: number, height: number, most: number): Frame {
  const bottom = height - BOTTOM;
  const right = width - RIGHT;
  const scale = (bottom - TOP) / (most * 1.03);
  return {
    left: LEFT,
    right,
    top: TOP,
    bottom,
    nowX: LEFT + (right - LEFT) * (width < WIDE ? 0.56 : 0.7),
    y: (value) => bottom - Math.max(0, value) * scale,
    valueAt: (y) => (bottom - y) / scale,
  };
}

export function xAt({ nowX, left }: Frame, ageMs: number): number {
  return nowX - (ageMs / SPAN_MS) * (nowX - left);
}

export function line(
  pen: CanvasRenderingContext2D,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
): void {
  pen.beginPath();
  pen.moveTo(fromX, fromY);
  pen.lineTo(toX, toY);
  pen.stroke();
}
