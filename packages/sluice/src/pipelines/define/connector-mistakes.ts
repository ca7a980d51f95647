import { ConfigError } from "@sluice/core";
import { placeName } from "@sluice/lab/file";
import type { Path } from "@sluice/lab/file";
import { FlowFileError, loadFlow } from "../../flow/flow-file.ts";
import { withoutSecrets } from "../../flow/mistakes/hidden-values.ts";
import type { Flow } from "../../flow/flow.ts";
import { isFile } from "../../file/is-file.ts";
import { GateMeters } from "../observe/gate-meters.ts";
import { flowConnectors } from "./connectors.ts";

/** Stands for the address of the file's gateway, which has none before it listens. */
const GATEWAY_URL = "pulsar://127.0.0.1:6650";

/**
 * A flow file whose connectors accept their options, too. Files with passwords and keys that are not there are left to
 * the start: they may come with the deployment.
 *
 * @throws FlowFileError with a line for every mistake
 */
export async function loadRunnableFlow(text: string, file: string): Promise<Flow> {
  const flow = loadFlow(text, file, isFile);
  const mistakes = await connectorMistakes(flow);
  if (mistakes.length > 0) throw new FlowFileError(mistakes);
  return flow;
}

async function connectorMistakes(flow: Flow): Promise<readonly string[]> {
  const connectors = flowConnectors({
    folder: flow.folder,
    gatewayUrl: flow.gateway && GATEWAY_URL,
    gates: new GateMeters(() => undefined),
  });
  const checks: Promise<string | undefined>[] = [];
  const check = (path: Path, making: Promise<unknown>): void => {
    checks.push(making.then(() => undefined).catch((error: unknown) => mistake(flow, path, error)));
  };
  for (const [name, pipeline] of Object.entries(flow.pipelines)) {
    const { vertices, deadLetter } = pipeline;
    for (const [index, vertex] of vertices.entries()) {
      const path = ["pipelines", name, "vertices", index];
      if (vertex.source)
        check([...path, "source", vertex.source.kind], connectors.source(vertex.source));
      if (vertex.map)
        check([...path, "map", vertex.map.kind], connectors.map(vertex.map, pipeline));
      if (vertex.sink)
        check(
          [...path, "sink", vertex.sink.kind],
          connectors.sink(vertex.sink, `${name}/${vertex.name}`),
        );
    }
    const path = ["pipelines", name, "deadLetter"];
    if (deadLetter)
      check([...path, deadLetter.kind], connectors.sink(deadLetter, `${name}/${path.at(-1)}`));
  }
  const found = (await Promise.all(checks)).filter((one) => one !== undefined);
  return found.toSorted((a, b) => lineOf(a) - lineOf(b));
}

/** The line of a message that begins with `file:line:`. */
function lineOf(message: string): number {
  return Number(/:(\d+): /.exec(message)?.[1]);
}

function mistake(flow: Flow, path: Path, error: unknown): string | undefined {
  if (!(error instanceof ConfigError)) throw error;
  const { syscall } = (error.cause ?? {}) as NodeJS.ErrnoException;
  if (syscall !== undefined) return undefined;
  const message = withoutSecrets({ path, message: error.message, isMissing: false });
  return `${flow.placeOf(path) ?? flow.placeOf(path.slice(0, -1))}: ${placeName(path, "")}: ${message}`;
}
