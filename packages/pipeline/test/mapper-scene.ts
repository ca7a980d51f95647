import { afterEach, expect } from "vitest";
import type { MapConnector } from "../src/map/map-connector.ts";
import type { Mapped, Mapper } from "../src/map/mapper.ts";
import { connectorScene, messageOf } from "./connector-scene.ts";
import type { ConnectorScene } from "./connector-scene.ts";

/** An open map, as the vertex `orders/map` has it, in real time. */
export interface MapperScene extends ConnectorScene {
  readonly mapper: Mapper;
  /** Maps values whose messages have the ids 0, 1 and so on, the key `k` and the header `h`. */
  readonly map: (...values: unknown[]) => Promise<readonly Mapped[]>;
}

const never = new AbortController().signal;

/** Answers a function that opens maps; what it opened is closed after each test of the file. */
export function mapperScenes(): (connector: MapConnector) => Promise<MapperScene> {
  const opened: Mapper[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((mapper) => mapper.close()));
  });
  return async (connector) => {
    const scene = connectorScene("orders/map");
    const mapper = await connector.open(scene.context);
    opened.push(mapper);
    const map = async (...values: unknown[]): Promise<readonly Mapped[]> =>
      mapper.map(
        values.map((value, index) =>
          messageOf(value, { id: `${index}`, key: "k", headers: { h: "1" } }),
        ),
        { signal: never },
      );
    return { ...scene, mapper, map };
  };
}

/** A failure whose text contains this one. */
export const failure = (isRetriable: boolean, text: string): object => ({
  isRetriable,
  error: expect.objectContaining({ message: expect.stringContaining(text) as string }) as Error,
});
