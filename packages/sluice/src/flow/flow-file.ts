import { dirname, resolve } from "node:path";
import { ConfigError, SluiceError } from "@sluice/core";
import { parseFileDocument, show, toProblem } from "@sluice/lab/file";
import type { FileDocument, Path, Problem } from "@sluice/lab/file";
import * as v from "valibot";
import { flowMistakes } from "./mistakes/flow-mistakes.ts";
import { flowProblem } from "./mistakes/flow-problem.ts";
import type { FlowProblem } from "./mistakes/flow-problem.ts";
import { flowSchema } from "./schema/flow-schema.ts";
import type { CheckedFlow, CheckedGateway } from "./schema/flow-schema.ts";
import type { Flow, FlowGateway } from "./flow.ts";
import { withoutSecrets } from "./mistakes/hidden-values.ts";
import { locatedUpstream } from "./schema/upstream.ts";

/** All mistakes of a flow file, a line for each with its place. */
export class FlowFileError extends SluiceError {
  override readonly name = "FlowFileError";
  readonly code = "CONFIG";
  readonly problems: readonly FlowProblem[];

  constructor(problems: readonly FlowProblem[], options?: ErrorOptions) {
    super(problems.map(({ message }) => message).join("\n"), options);
    this.problems = problems;
  }
}

const PROBLEMS_MAX = 100;
const DATA = "./sluice-data";

/**
 * Reads and checks a flow file, YAML or JSON. Files that it names are taken from its own folder.
 *
 * @throws FlowFileError with a line for every mistake
 */
export function loadFlow(
  text: string,
  file: string,
  /** Whether there is a file; absent: files that it names are not looked at. */
  isFile: (path: string) => boolean = () => true,
): Flow {
  const document = readDocument(text, file);
  if (Array.isArray(document.value) || typeof (document.value ?? {}) !== "object")
    throw new FlowFileError([
      flowProblem(
        { file, line: 1 },
        [],
        `is ${show(document.value)}; expected a map with the keys name, store, admin, gateway and pipelines`,
      ),
    ]);
  const checked = v.safeParse(flowSchema, document.value ?? {});
  const folder = dirname(resolve(file));
  const problems = problemsOf(checked, (path) => isFile(resolve(folder, path)));
  if (problems.length > 0 || !checked.success) {
    const found = problems.slice(0, PROBLEMS_MAX).map((problem) => {
      const { path } = problem;
      return flowProblem({ file, line: document.lineOf(path) }, path, withoutSecrets(problem));
    });
    throw new FlowFileError(found.toSorted((a, b) => a.line - b.line));
  }
  const placeOf: Flow["placeOf"] = (path) =>
    has(document, path) ? `${file}:${document.lineOf(path)}` : undefined;
  return { ...located(checked.output, folder), folder, placeOf };
}

/** A text that is no YAML is one mistake, and each key that stands twice. */
function readDocument(text: string, file: string): FileDocument {
  try {
    return parseFileDocument(text, file);
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const problems = cause.message.split("\n").map((message) => {
      const [, line = 1] = /^:(\d+): /.exec(message.slice(file.length)) ?? [];
      return { file, line: Number(line), message };
    });
    throw new FlowFileError(problems, { cause });
  }
}

/** Every mistake: values that are wrong by themselves, and right ones that contradict each other. */
function problemsOf(
  checked: v.SafeParseResult<typeof flowSchema>,
  isFile: (path: string) => boolean,
): readonly Problem[] {
  if (checked.success) return flowMistakes(checked.output, [], isFile);
  const wrong = checked.issues.map(toProblem);
  const paths = wrong.map(({ path }) => path);
  // Without it there is nothing to compare; what else is wrong is in `paths`.
  if (paths.some((path) => path.length === 0)) return wrong;
  return [...wrong, ...flowMistakes(checked.output as CheckedFlow, paths, isFile)];
}

function has({ value }: FileDocument, path: Path): boolean {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return true;
}

/** The same with files and folders made absolute. */
function located(
  { name, store, admin, gateway, pipelines = {} }: CheckedFlow,
  folder: string,
): Omit<Flow, "placeOf" | "folder"> {
  const maybe = (path: string | undefined): string | undefined => path && resolve(folder, path);
  return {
    name,
    store:
      store === "memory"
        ? store
        : { redis: { ...store.redis, passwordFile: maybe(store.redis.passwordFile) } },
    admin: admin && { ...admin, tokenFile: maybe(admin.tokenFile) },
    gateway: gateway && locatedGateway(gateway, folder),
    pipelines,
  };
}

function locatedGateway(given: CheckedGateway, folder: string): FlowGateway {
  const at = (path: string): string => resolve(folder, path);
  const maybe = (path: string | undefined): string | undefined => path && at(path);
  const { data = DATA, partitions = {}, auth, tls, upstream, listen: addresses, ...rest } = given;
  return {
    ...rest,
    listen: addresses,
    upstream: upstream === "embedded" ? upstream : locatedUpstream(upstream, maybe),
    partitions,
    data: data === "memory" ? "memory" : { folder: at(data) },
    tls: tls && { cert: at(tls.cert), key: at(tls.key) },
    auth: auth && {
      ...auth,
      tokenSecretFile: maybe(auth.tokenSecretFile),
      tokenPublicKeyFile: maybe(auth.tokenPublicKeyFile),
    },
  };
}
