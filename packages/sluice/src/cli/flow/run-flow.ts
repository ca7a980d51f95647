import { hostname } from "node:os";
import { systemRandom, systemTimer, systemWallClock } from "@sluice/core/system";
import type { PoolStore } from "@sluice/fleet";
import type { BrokerObserver } from "@sluice/gateway";
import { FlowFileError } from "../../flow/flow-file.ts";
import type { Flow } from "../../flow/flow.ts";
import { secretsOf } from "../../flow/flow-secrets.ts";
import type { FlowPipeline } from "../../flow/pipeline/flow-pipeline.ts";
import { SluiceError } from "@sluice/core";
import { backlogReader } from "../../pipelines/define/backlog-reader.ts";
import type { ConnectorWorld } from "../../pipelines/define/connector-options.ts";
import { flowConnectors } from "../../pipelines/define/connectors.ts";
import { GateMeters } from "../../pipelines/observe/gate-meters.ts";
import { FlowPipelines } from "../../pipelines/flow-pipelines.ts";
import type { Reloaded } from "../../pipelines/flow-pipelines.ts";
import { pipelineAddition } from "../../pipelines/admin/pipeline-admin.ts";
import { ScaleWatch } from "../../pipelines/admin/scale-watch.ts";
import type { StartPipeline } from "../../pipelines/supervised-pipeline.ts";
import { ModuleVersions } from "../../pipelines/module-versions.ts";
import { watchFile } from "../../pipelines/watch-file.ts";
import { watchModules } from "../../pipelines/watch-modules.ts";
import { adminOptionsOf, gatewayStartOf } from "./flow-options.ts";
import { reloadGateway, restartKeys } from "./reload-gateway.ts";
import { openStore, shownStore } from "./open-store.ts";
import { placeOfProcess, tellingWhere } from "./telling-where.ts";
import { modulesOf, takeOverModule } from "./take-over-module.ts";
import { loadRunnableFlow } from "../../pipelines/define/connector-mistakes.ts";
import { contentOf } from "../../file/content.ts";
import type { Served, Started } from "../command/serve.ts";

/** A flow file with its content, to see changes of it by. */
export interface FlowText {
  /** `-` is standard input, which does not change. */
  readonly file: string;
  readonly content: string;
}

/** What to run for a flow file: its gateway, then its pipelines. Changes of the file are taken over. */
export async function servedFlow(text: FlowText, json: boolean): Promise<Served> {
  let flow = await loadRunnableFlow(text.content, text.file);
  /** The flow whose connectors are made: in a reload the next one. */
  let made = flow;
  const startGateway = flow.gateway && (await gatewayStartOf(flow.name, flow.gateway));
  const admin = await adminOptionsOf(flow);
  const placeOf: Flow["placeOf"] = (path) => flow.placeOf(path);
  return {
    admin,
    placeOf,
    title: { flow: flow.name, file: text.file === "-" ? undefined : text.file },
    json,
    hasMapModules: () => modulesOf(flow).some(({ isInProcess }) => isInProcess),
    writesStdout: Object.values(flow.pipelines).some(writesStdout),
    start: async (observe) => {
      const store =
        flow.store === "memory"
          ? undefined
          : tellingWhere(
              await openStore(flow.store.redis),
              placeOfProcess(hostname(), process.pid),
            );
      const opened = [async (): Promise<void> => store?.close()];
      try {
        const gateway = await startGateway?.(observe, store);
        if (gateway !== undefined) opened.push(() => gateway.close());
        const versions = new ModuleVersions();
        const pipelines = await openPipelines(flow, store, {
          observe,
          gatewayUrl: gateway?.url,
          gatewayBacklog: gateway && backlogReader(gateway),
          versions,
          secrets: () => secretsOf(made),
        });
        const reloading = reloadOnChange(text, {
          observe,
          modules: () => modulesOf(flow),
          onModule: (module, signal) =>
            takeOverModule(module, { pipelines, versions, observe, signal }),
          apply: async (next) => {
            const before = flow;
            const gatewayLimits = reloadGateway(gateway, before, next);
            made = next;
            try {
              const reloaded = await pipelines.reload(next.pipelines);
              flow = next;
              return reloadText(reloaded, gatewayLimits, restartKeys(before, next));
            } catch (error) {
              made = before;
              if (gatewayLimits.length > 0) reloadGateway(gateway, next, before);
              throw error;
            }
          },
        });
        pipelines.start(flow.pipelines);
        const started = startedOf({ gateway, pipelines, placeOf, observe, reloading, opened });
        if (store === undefined) return started;
        return { ...started, sharedStore: { store, address: shownStore(flow.store) } };
      } catch (error) {
        for (const close of opened.toReversed()) await close();
        throw error;
      }
    },
  };
}

function writesStdout({ vertices, deadLetter }: FlowPipeline): boolean {
  return [...vertices.map(({ sink }) => sink), deadLetter].some((sink) => sink?.kind === "stdout");
}

interface Parts {
  readonly gateway: Started["gateway"];
  readonly pipelines: FlowPipelines;
  readonly placeOf: Flow["placeOf"];
  readonly observe: BrokerObserver;
  readonly reloading: () => Promise<void>;
  /** What ends the parts that were opened, in their order. */
  readonly opened: readonly (() => Promise<void>)[];
}

function startedOf({ gateway, pipelines, placeOf, observe, reloading, opened }: Parts): Started {
  const scale = new ScaleWatch(() => pipelines.views());
  const stopped = new AbortController();
  const watching = scale.run(systemTimer, stopped.signal);
  return {
    gateway,
    pipelines: () => pipelines.names,
    flowPipelines: pipelines,
    ready: pipelines.begun(),
    addition: pipelineAddition(pipelines, {
      timer: systemTimer,
      wallClock: systemWallClock,
      placeOf,
      capacityOf: (pipeline) => scale.capacityOf(pipeline),
      onChange: (subject, to) =>
        observe({
          kind: "vertex-limits-set",
          subject,
          text: `the limits of ${subject} were changed through REST; they are now ${to}`,
        }),
    }),
    // A gateway serves until a signal; pipelines alone may come to the end of their sources.
    ended: gateway === undefined ? pipelines.ended() : undefined,
    drain: async () => {
      stopped.abort();
      await watching;
      // At once: a reload drains one pipeline after the other.
      await Promise.all([reloading(), pipelines.stop()]);
    },
    close: async () => {
      for (const close of opened.toReversed()) await close();
    },
  };
}

async function openPipelines(
  flow: Flow,
  store: PoolStore | undefined,
  world: {
    readonly observe: BrokerObserver;
    readonly versions: ModuleVersions;
  } & Pick<ConnectorWorld, "gatewayUrl" | "gatewayBacklog" | "secrets">,
): Promise<FlowPipelines> {
  const { observe, gatewayUrl, gatewayBacklog, versions, secrets } = world;
  const gates = new GateMeters(observe);
  return new FlowPipelines(flow.name, store, {
    start: await engine(),
    connectors: flowConnectors({
      folder: flow.folder,
      gatewayUrl,
      gatewayBacklog,
      gates,
      modules: versions,
      secrets,
    }),
    gates,
    timer: systemTimer,
    wallClock: systemWallClock,
    random: systemRandom,
    tell: observe,
  });
}

/** Loaded when it is needed: a gateway alone has no pipelines. */
async function engine(): Promise<StartPipeline> {
  const { startPipeline } = await import("@sluice/pipeline");
  return startPipeline;
}

interface Reloads {
  readonly observe: BrokerObserver;
  readonly apply: (flow: Flow) => Promise<string>;
  readonly modules: () => ReturnType<typeof modulesOf>;
  readonly onModule: (
    module: ReturnType<typeof modulesOf>[number],
    signal: AbortSignal,
  ) => Promise<void>;
}

/**
 * Takes a changed file over, at once on SIGHUP, and changed modules of its maps. The answer ends it, after a change that is
 * under way.
 */
function reloadOnChange({ file, content }: FlowText, reloads: Reloads): () => Promise<void> {
  const { observe, apply, modules, onModule } = reloads;
  const stopped = new AbortController();
  let turn = Promise.resolve();
  const watchingModules = watchModules({
    files: () => modules().map((module) => module.file),
    timer: systemTimer,
    signal: stopped.signal,
    onChange: (changed) => {
      turn = turn.then(() => {
        const module = modules().find((each) => each.file === changed);
        return module === undefined || stopped.signal.aborted
          ? undefined
          : onModule(module, stopped.signal);
      });
      return turn;
    },
  });
  const end = async (): Promise<void> => {
    stopped.abort();
    await watchingModules;
    await turn;
  };
  if (file === "-") return end;
  const take = (text: string): Promise<void> => {
    turn = turn.then(() =>
      stopped.signal.aborted
        ? undefined
        : tryNew(text, file, { observe, apply, signal: stopped.signal }),
    );
    return turn;
  };
  const onSignal = (): void => {
    void contentOf(file).then(
      (bytes) => take(bytes.toString("utf8")),
      (error: unknown) => observe(rejected(file, (error as Error).message)),
    );
  };
  process.on("SIGHUP", onSignal);
  const watching = watchFile(file, content, {
    timer: systemTimer,
    signal: stopped.signal,
    onChange: take,
  });
  return async () => {
    process.off("SIGHUP", onSignal);
    await end();
    await watching;
  };
}

async function tryNew(
  text: string,
  file: string,
  { observe, apply, signal }: Pick<Reloads, "observe" | "apply"> & { readonly signal: AbortSignal },
): Promise<void> {
  try {
    const what = await apply(await loadRunnableFlow(text, file));
    // A reload that a stop has cut off was not taken over.
    if (signal.aborted) return;
    observe({ kind: "flow-reloaded", subject: file, text: `${file} was read again: ${what}` });
  } catch (error) {
    if (!(error instanceof FlowFileError || error instanceof SluiceError)) {
      observe({ kind: "error", error });
      return;
    }
    observe(rejected(file, error.message));
  }
}

function rejected(file: string, why: string): Parameters<BrokerObserver>[0] {
  const text = `${file} was changed and cannot be taken over, so the former settings stay: ${why}`;
  return { kind: "flow-rejected", subject: file, text };
}

function reloadText(
  { limits, restarted, started, stopped }: Reloaded,
  gatewayLimits: readonly string[],
  restart: readonly string[],
): string {
  const parts = [
    [[...gatewayLimits, ...limits], "new limits of"],
    [restarted, "restarted"],
    [started, "started"],
    [stopped, "stopped"],
    [restart, "takes effect after a restart:"],
  ] as const;
  const said = parts.flatMap(([names, what]) =>
    names.length === 0 ? [] : [`${what} ${names.join(", ")}`],
  );
  return said.join("; ") || "nothing that runs has changed";
}
