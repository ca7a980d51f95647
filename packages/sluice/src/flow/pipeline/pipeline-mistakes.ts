import { ConfigError } from "@sluice/core";
import { inheritRateLimit, readRateLimit } from "@sluice/fleet";
import type { Path, Problem } from "@sluice/lab/file";
import type { FlowStore } from "../schema/flow-store.ts";
import { roleOf } from "./flow-pipeline.ts";
import type { FlowPipeline, FlowVertex } from "./flow-pipeline.ts";

/** Shorter leases ask the store more than 20 times a second; longer ones keep the share of a killed replica for long. */
const [LEASE_MIN_MS, LEASE_MAX_MS] = [500, 600_000];

/** What a pipeline is checked against. */
interface Surroundings {
  readonly store: FlowStore;
  readonly hasGateway: boolean;
  readonly isRight: IsRight;
}

/** Whether nothing is wrong at a place, around it, and down to `depth` levels inside of it; all levels if absent. */
export type IsRight = (path: Path, depth?: number) => boolean;

/** The line of vertices: a source, maps, a sink, with names of their own. */
export function lineMistakes(name: string, { vertices }: FlowPipeline): readonly Problem[] {
  const path = ["pipelines", name, "vertices"];
  const count = vertices.length;
  if (count < 2)
    return [
      mistake(
        path,
        `has ${count === 1 ? "1 vertex" : "no vertices"}; expected a source first and a sink last`,
      ),
    ];
  const seen = new Map<string, number>();
  return vertices.flatMap((vertex, index) => {
    const mistakes: Problem[] = [];
    const former = seen.get(vertex.name);
    if (former !== undefined)
      mistakes.push(
        mistake(
          [...path, index, "name"],
          `is ${JSON.stringify(vertex.name)}, which vertices[${former}] is called too; expected a name of its own`,
        ),
      );
    else seen.set(vertex.name, index);
    const [role, expected] = [roleOf(vertex), expectedRole(index, count)];
    if (role !== expected)
      mistakes.push(
        mistake(
          [...path, index, role],
          `is a ${role} in place ${index + 1} of ${count}; expected a ${expected}: a source first, maps between, a sink last`,
        ),
      );
    return mistakes;
  });
}

/** Modules of maps that are not there. */
export function moduleMistakes(
  name: string,
  { vertices }: FlowPipeline,
  { isFile, isRight }: { readonly isFile: (path: string) => boolean; readonly isRight: IsRight },
): readonly Problem[] {
  return vertices.flatMap(({ map }, index) => {
    const path = ["pipelines", name, "vertices", index, "map"];
    if (map === undefined || !isRight(path)) return [];
    const module = map.options["module"];
    if (typeof module !== "string" || module.startsWith("file:") || isFile(module)) return [];
    return [
      mistake(
        [...path, "module"],
        `is ${JSON.stringify(module)}, and there is no such file; expected the path of a module, from the folder of the flow file`,
      ),
    ];
  });
}

function expectedRole(index: number, count: number): "source" | "map" | "sink" {
  if (index === 0) return "source";
  return index === count - 1 ? "sink" : "map";
}

/** Rate limits with what they inherit, without the keys that are wrong by themselves. */
export function rateLimitMistakes(
  name: string,
  { limits, vertices }: FlowPipeline,
  isRight: IsRight,
): readonly Problem[] {
  const rightKeys = (path: Path, block: unknown): object | undefined => {
    if (block === undefined || !isRight(path, 0)) return undefined;
    return Object.fromEntries(
      Object.entries(block as object).filter(([key]) => isRight([...path, key])),
    );
  };
  const outerPath = ["pipelines", name, "limits", "rateLimit"];
  const outer = rightKeys(outerPath, limits?.rateLimit);
  const own = vertices.map((vertex, index) => {
    const path = ["pipelines", name, "vertices", index, "limits", "rateLimit"];
    return { path, block: rightKeys(path, vertex.limits?.rateLimit) };
  });
  const isInherited = vertices.some((vertex) => vertex.limits?.rateLimit === undefined);
  return [
    ...(isInherited && outer !== undefined ? readingMistakes(outerPath, outer) : []),
    // What a vertex inherits is not known if the outer block is wrong.
    ...(isRight(outerPath.slice(0, -1)) ? own : []).flatMap(({ path, block }) =>
      block === undefined ? [] : readingMistakes(path, inheritRateLimit(outer, block)),
    ),
    // A key that was left out is not missing.
  ].filter(({ path }) => isRight(path));
}

function readingMistakes(path: Path, block: unknown): readonly Problem[] {
  try {
    readRateLimit(block, { readSecret: () => "" });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [, key, message = error.message] = /^rateLimit\.(\w+) (.*)$/s.exec(error.message) ?? [];
    const isOwn = key !== undefined;
    return [
      mistake(
        isOwn ? [...path, key] : path,
        (isOwn ? message : error.message).replace("it must be", "expected"),
      ),
    ];
  }
}

/** How replicas meet. */
export function fleetMistakes(
  name: string,
  { fleet, limits, vertices }: FlowPipeline,
  { store }: Surroundings,
): readonly Problem[] {
  const path = ["pipelines", name, "fleet"];
  const mistakes: Problem[] = [];
  if (fleet?.replicas !== undefined && store !== "memory")
    mistakes.push(
      mistake(
        [...path, "replicas"],
        "is given beside store, which counts the replicas itself; expected one of them, remove replicas",
      ),
    );
  if (fleet?.replicas !== undefined && fleet.maxMembers !== undefined)
    mistakes.push(
      mistake(
        [...path, "maxMembers"],
        "is given beside replicas; it is for a store, expected one of them",
      ),
    );
  if (fleet?.lease !== undefined && store === "memory")
    mistakes.push(
      mistake(
        [...path, "lease"],
        "is given without store; a lease is the right to a share of the store's limit, expected a store or no lease",
      ),
    );
  if (fleet?.lease !== undefined && (fleet.lease < LEASE_MIN_MS || fleet.lease > LEASE_MAX_MS))
    mistakes.push(mistake([...path, "lease"], `is ${fleet.lease} ms; expected 500ms to 10m`));
  const ofBlocks = [
    [limits?.rateLimit, ["pipelines", name, "limits", "rateLimit", "store"]] as const,
    ...vertices.map(
      ({ limits: own }, index) =>
        [
          own?.rateLimit,
          ["pipelines", name, "vertices", index, "limits", "rateLimit", "store"],
        ] as const,
    ),
  ];
  for (const [block, at] of ofBlocks)
    if (block?.store !== undefined && (store !== "memory" || fleet?.replicas !== undefined))
      mistakes.push(
        mistake(
          at,
          `is given beside ${store === "memory" ? "fleet.replicas" : "the store of the flow file"}; expected one of them`,
        ),
      );
  return mistakes;
}

/** What a connector needs that is elsewhere in the file. */
export function connectorMistakes(
  name: string,
  { vertices, deadLetter }: FlowPipeline,
  { hasGateway, isRight }: Surroundings,
): readonly Problem[] {
  const path = ["pipelines", name];
  const chosen = [
    ...vertices.map((vertex, index) => ({
      at: [...path, "vertices", index, roleOf(vertex)],
      ...partOf(vertex),
    })),
    ...(deadLetter === undefined ? [] : [{ at: [...path, "deadLetter"], ...deadLetter }]),
  ];
  return chosen.flatMap(({ at, kind, options = {} }) =>
    isRight(at) && kind === "pulsar" && options["url"] === undefined && !hasGateway
      ? [
          mistake(
            [...at, "pulsar"],
            "has no url, and this file has no gateway; expected url: pulsar://host:6650, or a gateway",
          ),
        ]
      : [],
  );
}

function partOf({ source, map, sink }: FlowVertex): Partial<NonNullable<FlowVertex["source"]>> {
  return source ?? map ?? sink ?? {};
}

function mistake(path: Path, message: string): Problem {
  return { path, message, isMissing: false };
}
