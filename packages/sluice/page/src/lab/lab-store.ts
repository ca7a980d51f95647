import { computed, effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { readYaml, writeYaml } from "@sluice/lab/browser";
import { ConfigError } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import { LAB_KINDS, tabOf } from "./kinds/kinds.ts";
import type { Document } from "./model/document.ts";
import type { Figure, LabKind, Preset } from "./model/kind.ts";
import { unpackState } from "./model/link.ts";
import { presetState, withImport, withTraffic } from "./model/state.ts";
import type { LabState, Side, Traffic } from "./model/state.ts";
import type { RunAnswer, RunProblem, RunResult } from "./run/messages.ts";
import { Runner } from "./run/runner.ts";

/** How long after the last change a run begins, ms: while a number is dragged, changes come every few ms. */
const DEBOUNCE_MS = 30;

const [FIRST_KIND] = LAB_KINDS as readonly [LabKind];

export const state = signal<LabState>(presetState(FIRST_KIND, FIRST_KIND.presets[0] as Preset));
export const preset = signal(0);
export type Layout = "stack" | "side" | "over";
export const layout = signal<Layout>("stack");
/** The second under the pointer, in both charts. */
export const cursorX = signal<number | undefined>(undefined);
/** What is wrong with text or a link that was given; the run before stays. */
export const importProblem = signal<RunProblem | undefined>(undefined);
/** How long the latest run took in its worker, ms. */
export const tookMs = signal<number | undefined>(undefined);
export const failed = signal<string | undefined>(undefined);

/** A result and the scenario that it is of. */
interface Shown {
  readonly result: RunResult;
  readonly document: Document;
}

const shown = {
  a: signal<Shown | undefined>(undefined),
  b: signal<Shown | undefined>(undefined),
};
const problems = {
  a: signal<RunProblem | undefined>(undefined),
  b: signal<RunProblem | undefined>(undefined),
};
export const texts: Readonly<Record<Side, ReadonlySignal<string>>> = {
  a: computed(() => writeYaml(titled(state.value.a, "A"))),
  b: computed(() => writeYaml(titled(state.value.b, "B"))),
};

export const resultOf = (side: Side): RunResult | undefined => shown[side].value?.result;
export const problemOf = (side: Side): RunProblem | undefined => problems[side].value;

/** The figures of both sides, once both have run. */
export const figures: ReadonlySignal<
  { readonly a: readonly Figure[]; readonly b: readonly Figure[] } | undefined
> = computed(() => {
  const { kind } = state.value;
  const [a, b] = [shown.a.value, shown.b.value];
  if (a === undefined || b === undefined) return undefined;
  if (tabOf(a.document["kind"]) !== kind || tabOf(b.document["kind"]) !== kind) return undefined;
  return {
    a: kind.figures(a.result.outcome, a.document),
    b: kind.figures(b.result.outcome, b.document),
  };
});

/** How the last change was made: typing and dragging keep the preset's name, a preset replaces all. */
export function choosePreset(kind: LabKind, index: number): void {
  preset.value = index;
  importProblem.value = undefined;
  state.value = presetState(kind, kind.presets[index] as Preset);
}

export function setDocument(side: Side, document: Document): void {
  state.value = { ...state.peek(), [side]: document };
}

export function setTraffic(traffic: Traffic): void {
  state.value = withTraffic(state.peek(), traffic);
}

export function swap(): void {
  const { a, b, ...same } = state.peek();
  state.value = { ...same, a: b, b: a };
}

export function copyAToB(): void {
  state.value = { ...state.peek(), b: state.peek().a };
}

/** Takes the text of a scenario for one side. What cannot be read changes nothing. */
export function importText(side: Side, text: string): void {
  try {
    const document = documentOf(text);
    const kind = tabOf(document["kind"]);
    if (kind === undefined) {
      const known = LAB_KINDS.flatMap(({ scenarios }) => scenarios).join(", ");
      importProblem.value = {
        message: `found kind ${JSON.stringify(document["kind"] ?? null)}; expected one of ${known}`,
        line: 1,
      };
      return;
    }
    importProblem.value = undefined;
    state.value = withImport(state.peek(), side, kind, document);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    importProblem.value = {
      message: error.message.replace(/^scenario:\d+: /, ""),
      line: error.source?.line,
    };
  }
}

/** Takes the state of a link, if the address has one. */
export async function importLink(hash: string): Promise<void> {
  if (hash.length < 2) return;
  const found = await unpackState(hash);
  if (found === undefined)
    importProblem.value = {
      message: "the link is not one of this page, or was cut; the settings below are not from it",
    };
  else {
    importProblem.value = undefined;
    state.value = found;
  }
}

/** Runs both sides whenever they change, until the answer is called. */
export function startRuns(): () => void {
  const runners = { a: runnerOf("a"), b: runnerOf("b") };
  restart = () => {
    failed.value = undefined;
    runners.a.retry(texts.a.peek());
    runners.b.retry(texts.b.peek());
  };
  const stops = (["a", "b"] as const).map((side) => {
    let prevent: (() => void) | undefined;
    return effect(() => {
      const text = texts[side].value;
      prevent?.();
      prevent = later(DEBOUNCE_MS, () => runners[side].run(text));
    });
  });
  return () => {
    for (const stop of stops) stop();
    runners.a.end();
    runners.b.end();
  };
}

let restart: () => void = () => {};

/** Makes new workers after a failure. */
export function retryRuns(): void {
  restart();
}

function runnerOf(side: Side): Runner {
  return new Runner({
    createWorker: (onAnswer, onError) => {
      const worker = new Worker(new URL("./run/lab-worker.ts", import.meta.url), {
        type: "module",
      });
      worker.addEventListener("message", ({ data }: MessageEvent<RunAnswer>) => onAnswer(data));
      worker.addEventListener("error", ({ message }) => onError(message));
      return {
        post: (request) => worker.postMessage(request, []),
        terminate: () => worker.terminate(),
      };
    },
    later,
    onResult: (result, text) => {
      problems[side].value = undefined;
      tookMs.value = result.tookMs;
      shown[side].value = { result, document: documentOf(text) };
    },
    onProblem: (problem) => {
      problems[side].value = problem;
    },
    onFailed: (message) => {
      failed.value = message;
    },
  });
}

function documentOf(text: string): Document {
  const { value } = readYaml(text, "scenario");
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Document)
    : {};
}

function titled(document: Document, side: string): Document {
  const { kind, title, ...rest } = document;
  const plain = typeof title === "string" ? title.replace(/, setting [AB]$/, "") : "";
  return { kind, title: `${plain === "" ? "a scenario" : plain}, setting ${side}`, ...rest };
}

/** Starts something after a time; answers how to prevent it. */
function later(ms: number, run: () => void): () => void {
  const prevented = new AbortController();
  const wait = async (): Promise<void> => {
    await systemTimer.sleep(ms, prevented.signal).catch(() => undefined);
    if (!prevented.signal.aborted) run();
  };
  void wait();
  return () => prevented.abort();
}
