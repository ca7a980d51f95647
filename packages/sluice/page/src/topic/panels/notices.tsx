import type { JSX } from "preact";
import type { LiveNotice } from "../../../../src/live/live-message.ts";
import { Canvas } from "../../chart/canvas.tsx";
import type { Sheet } from "../../chart/canvas.tsx";
import { Words } from "../../parts/words.tsx";
import { noticeWords, NOTICES_MS, RECEIPT_WAIT_MS } from "../model/notice-log.ts";

const HEIGHT = 116;
const LEFT = 44;
const BOTTOM = 18;
/** The slowest receipt that has its own place, ms; slower ones stand at the top. */
const SLOWEST_MS = 300;
const MARKS_MS = [1, 10, 100];

/** When aware producers were told to pause, and how long their receipts took. */
export function Notices({
  notices,
  nowMs,
}: {
  readonly notices: readonly LiveNotice[];
  readonly nowMs: number;
}): JSX.Element {
  return (
    <section class="panel" aria-labelledby="notices-title">
      <header>
        <h2 id="notices-title">Notices and receipts</h2>
        <span class="sp" />
        <span class="sub">last 5 min</span>
      </header>
      <div class="plot">
        <Canvas
          height={HEIGHT}
          label="Time until each receipt over the last five minutes; the sentence below says the same"
          draw={(sheet) => draw(sheet, notices, nowMs)}
        />
      </div>
      <p class="foot">
        <Words of={noticeWords(notices)} />
      </p>
    </section>
  );
}

function draw(
  { pen, palette: { ink, font }, width, height }: Sheet,
  notices: readonly LiveNotice[],
  nowMs: number,
): void {
  const bottom = height - BOTTOM;
  const x = (atMs: number): number => LEFT + (1 - (nowMs - atMs) / NOTICES_MS) * (width - LEFT - 4);
  const y = (ms: number): number =>
    bottom -
    (Math.log10(Math.min(SLOWEST_MS, Math.max(1, ms))) / Math.log10(SLOWEST_MS)) * (bottom - 8);
  pen.font = font(10.5);
  pen.textBaseline = "middle";
  pen.lineWidth = 1;
  for (const ms of MARKS_MS) {
    const isBound = ms === RECEIPT_WAIT_MS;
    pen.strokeStyle = ink(isBound ? "text" : "line");
    pen.setLineDash(isBound ? [5, 3] : []);
    pen.beginPath();
    pen.moveTo(LEFT, y(ms));
    pen.lineTo(width, y(ms));
    pen.stroke();
    pen.fillStyle = ink("text-3");
    pen.textAlign = "right";
    pen.fillText(`${ms} ms`, LEFT - 6, y(ms));
  }
  pen.setLineDash([]);
  pen.textAlign = "left";
  pen.fillStyle = ink("text-2");
  pen.fillText(`after ${RECEIPT_WAIT_MS} ms: hold, then pause`, LEFT + 4, y(RECEIPT_WAIT_MS) - 9);
  for (const { atMs, receiptAfterMs } of notices) {
    const isMissing = receiptAfterMs === undefined;
    pen.beginPath();
    pen.arc(x(atMs), y(receiptAfterMs ?? SLOWEST_MS), isMissing ? 3 : 2, 0, 2 * Math.PI);
    // A missing receipt is a ring at the top.
    pen.strokeStyle = ink("amber-fill");
    pen.fillStyle = ink("water", 0.8);
    if (isMissing) pen.stroke();
    else pen.fill();
  }
  pen.textBaseline = "alphabetic";
  pen.fillStyle = ink("text-3");
  pen.textAlign = "center";
  for (const minutes of [4, 2])
    pen.fillText(`−${minutes} min`, x(nowMs - minutes * 60_000), height - 3);
  pen.textAlign = "right";
  pen.fillText("now", width, height - 3);
}
