import { resolve } from "node:path";
import { systemRandom, systemTimer } from "@sluice/core/system";
import type { BrokerObserver } from "@sluice/gateway";
import { mapThreads } from "@sluice/pipeline";
import type { Flow } from "../../flow/flow.ts";
import type { FlowPipelines } from "../../pipelines/flow-pipelines.ts";
import type { ModuleVersions } from "../../pipelines/module-versions.ts";

/** A map module of a flow file, and the pipelines that use it. */
interface UsedModule {
  readonly file: string;
  readonly pipelines: readonly string[];
  /** Whether a map has it in this process, where its versions are never freed. */
  readonly isInProcess: boolean;
}

export function modulesOf({ pipelines, folder }: Flow): readonly UsedModule[] {
  const uses = Object.entries(pipelines).flatMap(([name, { vertices }]) =>
    vertices.flatMap(({ map }) =>
      map?.kind === "module"
        ? [{ name, file: resolve(folder, map.options["module"] as string), options: map.options }]
        : [],
    ),
  );
  return [...new Set(uses.map(({ file }) => file))].map((file) => {
    const own = uses.filter((use) => use.file === file);
    return {
      file,
      pipelines: [...new Set(own.map(({ name }) => name))],
      isInProcess: own.some(({ options }) => options["threads"] === undefined),
    };
  });
}

/** Starts the pipelines of a changed module again with it; a module that cannot be loaded changes nothing. */
export async function takeOverModule(
  { file, pipelines: names, isInProcess }: UsedModule,
  {
    pipelines,
    versions,
    observe,
    signal,
  }: {
    readonly pipelines: FlowPipelines;
    readonly versions: ModuleVersions;
    readonly observe: BrokerObserver;
    /** Gives the change up, also while the module loads. */
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const mistake = await mistakeOf(file, signal);
  if (signal.aborted) return;
  const problem = mistake ?? (isInProcess ? versions.raise(file) : undefined);
  if (problem !== undefined) {
    const text = `${file} was changed and cannot be taken over, so the former module stays: ${problem}`;
    observe({ kind: "flow-rejected", subject: file, text });
    return;
  }
  try {
    await pipelines.restart(names);
    const text = `${file} was changed: restarted ${names.join(", ")}`;
    observe({ kind: "flow-reloaded", subject: file, text });
  } catch (error) {
    // Thrown on, it would end the watch of all modules and every later reload.
    const text = `${file} was changed, and ${names.join(", ")} could not be restarted with it: ${(error as Error).message}`;
    observe({ kind: "flow-rejected", subject: file, text });
  }
}

/** Loads the module in a thread of its own, which is ended: what is wrong leaves nothing behind. */
async function mistakeOf(file: string, signal: AbortSignal): Promise<string | undefined> {
  const context = {
    name: file,
    timer: systemTimer,
    random: systemRandom,
    signal,
    tell: () => undefined,
  };
  try {
    const mapper = await mapThreads({ module: file, threads: 1 }).open(context);
    await mapper.close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
