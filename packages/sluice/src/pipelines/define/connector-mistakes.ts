import { ConfigError } from "@sluice/core";
import type { Path } from "@sluice/lab/file";
import { FlowFileError, loadFlow } from "../../flow/flow-file.ts";
import { flowProblem } from "../../flow/mistakes/flow-problem.ts";
import type { FlowProblem } from "../../flow/mistakes/flow-problem.ts";
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
  const mistakes = await connectorMistakes(flow, file);
  if (mistakes.length > 0) throw new FlowFileError(mistakes);
  return flow;
}

async function connectorMistakes(flow: Flow, file: string): Promise<readonly FlowProblem[]> {
  const connectors = flowConnectors({
    folder: flow.folder,
    gatewayUrl: flow.gateway && GATEWAY_URL,
    gates: new GateMeters(() => undefined),
    // Nothing runs yet.
    secrets: () => Promise.resolve([]),
  });
  const checks: Promise<FlowProblem | undefined>[] = [];
  const check = (path: Path, making: Promise<unknown>): void => {
    const at = { file, line: lineOf(flow, path) };
    checks.push(making.then(() => undefined).catch((error: unknown) => mistake(at, path, error)));
  };
  for (const [name, pipeline] of Object.entries(flow.pipelines)) {
    const { vertices, deadLetter } = pipeline;
    for (const [index, vertex] of vertices.entries()) {
      const path = ["pipelines", name, "vertices", index];
      if (vertex.source)
        check([...path, "source", vertex.source.kind], connectors.source(vertex.source));
      if (vertex.map) check([...path, "map", vertex.map.kind], connectors.map(vertex.map));
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
  return found.toSorted((a, b) => a.line - b.line);
}

/** The line of a key, or of the vertex that a key of other forms belongs to. */
function lineOf(flow: Flow, path: Path): number {
  const place = flow.placeOf(path) ?? flow.placeOf(path.slice(0, -1)) ?? "";
  return Number(/:(\d+)$/.exec(place)?.[1] ?? 1);
}

function mistake(
  at: { readonly file: string; readonly line: number },
  path: Path,
  error: unknown,
): FlowProblem | undefined {
  if (!(error instanceof ConfigError)) throw error;
  const { syscall } = (error.cause ?? {}) as NodeJS.ErrnoException;
  if (syscall !== undefined) return undefined;
  const sentence = withoutSecrets({ path, message: error.message, isMissing: false });
  return flowProblem(at, path, sentence, ": ");
}
