import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { LiveSample } from "../../../../src/live/live-message.ts";
import { palette } from "../../chart/palette.ts";
import { lostForMs } from "../../frame/connection-badge.tsx";
import { pinnedAtMs } from "../../live/live-store.ts";
import { countedText } from "../../words/numbers.ts";
import { litGate } from "../lit-gate.ts";
import { animate, isMotionWanted } from "./animate.ts";
import { Chain } from "./chain.tsx";
import { PathPainter } from "./draw/path-painter.ts";
import { GatewayColumn, ProducersColumn } from "./gateway-column.tsx";
import { pathModel } from "./path-model.ts";

/** The path of messages from the producers to the service, with live numbers. */
export function PathPanel({ sample }: { readonly sample: LiveSample | undefined }): JSX.Element {
  return (
    <section class="panel hero" aria-label="The path from producers to the service">
      {sample === undefined ? (
        <div class="hero-loading">
          {[1, 2, 3, 4, 5, 6].map((one) => (
            <div class="skeleton" key={one} />
          ))}
        </div>
      ) : (
        <Picture sample={sample} />
      )}
    </section>
  );
}

function Picture({ sample }: { readonly sample: LiveSample }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<PathPainter | undefined>(undefined);
  const model = pathModel(sample);
  const { gateway, chains, chainsLeftOut } = model;

  useLayoutEffect(() => {
    if (canvas.current === null || box.current === null) return;
    painter.current ??= new PathPainter(canvas.current, box.current);
    painter.current.show(model);
  });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const resized = new ResizeObserver(() => painter.current?.measure());
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  useSignalEffect(() => {
    const isMoving =
      isMotionWanted.value && lostForMs.value === undefined && pinnedAtMs.value === undefined;
    if (painter.current !== undefined) painter.current.isMoving = isMoving;
    if (!isMoving) return undefined;
    return animate((seconds) => painter.current?.draw(seconds));
  });
  useSignalEffect(() => {
    void [palette.value, litGate.value];
    painter.current?.draw();
  });

  const isLong = chains.some(({ vertices }) => vertices.length > 3);
  const layout =
    gateway === undefined
      ? "only-chains"
      : chains.length === 0
        ? "only-gateway"
        : isLong
          ? "stacked"
          : "beside";
  return (
    <div class={`path ${layout}`} ref={box}>
      <canvas class="pipes" ref={canvas} aria-hidden="true" />
      {gateway !== undefined && <ProducersColumn gateway={gateway} />}
      {gateway !== undefined && <GatewayColumn gateway={gateway} />}
      {chains.length > 0 && (
        <div class="chains">
          {chains.map((pipeline) => (
            <Chain key={pipeline.name} pipeline={pipeline} isNamed={chains.length > 1} />
          ))}
          {chainsLeftOut > 0 && (
            <p class="t3">and {countedText(chainsLeftOut, "other pipeline")}</p>
          )}
        </div>
      )}
    </div>
  );
}
