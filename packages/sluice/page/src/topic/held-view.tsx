import type { JSX } from "preact";
import type { LiveGateway } from "../../../src/live/live-message.ts";
import { TimeChart } from "../chart/time-chart.tsx";
import { Headline } from "../frame/headline.tsx";
import { bytesText, countedText, countText } from "../words/numbers.ts";
import { localName } from "./model/target.ts";

/** Frames that wait in the gateway, of all connections, against the bound of its memory. */
export function HeldView({ gateway }: { readonly gateway: LiveGateway }): JSX.Element {
  const { memory, connections } = gateway;
  const holding = gateway.producers
    .filter(({ heldFrames }) => heldFrames > 0)
    .toSorted((a, b) => b.heldBytes - a.heldBytes);
  return (
    <>
      <Headline>
        Held frames fill <b>{bytesText(memory.used)}</b> of <b>{bytesText(memory.max)}</b>.{" "}
        {memory.used >= memory.max
          ? "No connection is read until some have gone."
          : `All ${countedText(connections, "connection")} are read.`}
      </Headline>
      <section class="panel" aria-labelledby="memory-title">
        <header>
          <h2 id="memory-title">Held in memory</h2>
          <span class="sub">all connections together</span>
        </header>
        <div class="plot">
          <TimeChart
            label="Bytes of held frames"
            height={180}
            series={[
              { get: ({ gateway: one }) => one?.memory.used, color: "water", isFilled: true },
            ]}
            mark={(value) => bytesText(value)}
            axisWidth={64}
          />
        </div>
      </section>
      <section class="panel" aria-labelledby="holding-title">
        <header>
          <h2 id="holding-title">Held by producer</h2>
          <span class="sub">most bytes first</span>
        </header>
        {holding.length === 0 ? (
          <p class="nothing">No frame is held.</p>
        ) : (
          <table class="t">
            <thead>
              <tr>
                <th scope="col">producer</th>
                <th scope="col">topic</th>
                <th scope="col" class="r">
                  frames
                </th>
                <th scope="col" class="r">
                  bytes
                </th>
              </tr>
            </thead>
            <tbody>
              {holding.map(({ name, topic, heldFrames, heldBytes }) => (
                <tr key={`${topic} ${name}`}>
                  <td class="strong">{name}</td>
                  <td>{localName(topic)}</td>
                  <td class="r num">{countText(heldFrames)}</td>
                  <td class="r num">{bytesText(heldBytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </>
  );
}
