import { dirname, resolve } from "node:path";
import { SluiceError } from "@sluice/core";
import {
  byteSize,
  duration,
  field,
  flag,
  lineOfText,
  list,
  map,
  parseFileDocument,
  placeName,
  toProblem,
  whole,
} from "@sluice/lab/file";
import type { Problem } from "@sluice/lab/file";
import * as v from "valibot";

/** What one role of a token may do. */
interface FlowRole {
  readonly produce: readonly string[];
  readonly consume: readonly string[];
  readonly admin: boolean;
}

export interface FlowAuth {
  readonly tokenSecretFile?: string | undefined;
  readonly tokenPublicKeyFile?: string | undefined;
  readonly allowNoExpiry: boolean;
  readonly roles?: Readonly<Record<string, FlowRole>> | undefined;
}

/** A gateway with the embedded broker behind it. Files are absolute. */
export interface FlowGateway {
  readonly listen: readonly string[];
  readonly advertisedHost?: string | undefined;
  readonly upstream: "embedded";
  /** A folder, or nothing but memory. */
  readonly data: { readonly folder: string } | "memory";
  readonly partitions: Readonly<Record<string, number>>;
  readonly retention?:
    | { readonly size?: number | undefined; readonly age?: number | undefined }
    | undefined;
  readonly auth?: FlowAuth | undefined;
  readonly allowAnonymous: boolean;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

interface FlowAdmin {
  readonly listen: string;
  readonly advertisedHost?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** A checked flow file. */
export interface Flow {
  readonly name: string;
  readonly admin?: FlowAdmin | undefined;
  readonly gateway: FlowGateway;
}

/** All mistakes of a flow file, a line for each with its place. */
export class FlowFileError extends SluiceError {
  override readonly name = "FlowFileError";
  readonly code = "CONFIG";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const PROBLEMS_MAX = 100;
const LISTEN = "pulsar://127.0.0.1:6650";
const DATA = "./sluice-data";
const ADMIN_LISTEN = "127.0.0.1:7070";
const ITEMS_MAX = 1_000;

/** A key of the design that this version does not have yet. */
function later(what: string): v.GenericSchema<never> {
  return field<never>(
    () => false,
    `nothing yet: ${what} come with a later version; remove the key`,
  );
}

function texts(): v.GenericSchema<unknown, string[]> {
  return list(lineOfText(), ITEMS_MAX);
}

const listen = v.union(
  [
    v.pipe(
      v.string(),
      v.transform((url) => [url]),
    ),
    texts(),
  ],
  "must be an address such as pulsar://127.0.0.1:6650, or a list of them",
);

const role = map({
  produce: v.optional(texts(), []),
  consume: v.optional(texts(), []),
  admin: v.optional(flag(), false),
});

const gateway = map({
  listen: v.optional(listen, [LISTEN]),
  advertisedHost: v.optional(lineOfText()),
  upstream: v.optional(
    field<"embedded">(
      (value) => value === "embedded",
      "embedded; gateways in front of a cluster come with a later version",
    ),
    "embedded",
  ),
  data: v.optional(lineOfText(), DATA),
  partitions: v.optional(
    v.record(v.string(), whole(1, 10_000), notMap("topics with their number")),
    {},
  ),
  retention: v.optional(map({ size: v.optional(byteSize()), age: v.optional(duration()) })),
  auth: v.optional(
    map({
      tokenSecretFile: v.optional(lineOfText()),
      tokenPublicKeyFile: v.optional(lineOfText()),
      allowNoExpiry: v.optional(flag(), false),
      roles: v.optional(v.record(v.string(), role, notMap("roles with their rights"))),
    }),
  ),
  allowAnonymous: v.optional(flag(), false),
  tls: v.optional(map({ cert: lineOfText(), key: lineOfText() })),
  limits: v.optional(later("limits")),
});

const flow = map({
  name: v.optional(lineOfText(), "sluice"),
  store: v.optional(
    field<"memory">((value) => value === "memory", "memory; redis comes with a later version"),
    "memory",
  ),
  admin: v.optional(
    map({
      listen: v.optional(lineOfText(), ADMIN_LISTEN),
      advertisedHost: v.optional(lineOfText()),
      tokenFile: v.optional(lineOfText()),
    }),
  ),
  gateway,
  pipelines: v.optional(later("pipelines")),
});

/**
 * Reads and checks a flow file, YAML or JSON. Files that it names are taken from its own folder.
 *
 * @throws FlowFileError with a line for every mistake; ConfigError if it is not YAML at all
 */
export function loadFlow(text: string, file: string): Flow {
  const document = parseFileDocument(text, file);
  const checked = v.safeParse(flow, document.value ?? {});
  const problems = checked.success ? contradictions(checked.output) : checked.issues.map(toProblem);
  if (problems.length > 0 || !checked.success) {
    const lines = problems.slice(0, PROBLEMS_MAX).map((problem) => ({
      line: document.lineOf(problem.path),
      text: `${placeName(problem.path, "the flow file")} ${problem.message}`,
    }));
    throw new FlowFileError(
      lines
        .toSorted((a, b) => a.line - b.line)
        .map(({ line, text: what }) => `${file}:${line}: ${what}`),
    );
  }
  return located(checked.output, dirname(resolve(file)));
}

type Checked = v.InferOutput<typeof flow>;

function contradictions({ gateway: { auth } }: Checked): Problem[] {
  if (auth === undefined) return [];
  const path = ["gateway", "auth"];
  const both = auth.tokenSecretFile !== undefined && auth.tokenPublicKeyFile !== undefined;
  const none = auth.tokenSecretFile === undefined && auth.tokenPublicKeyFile === undefined;
  if (!both && !none) return [];
  const message = both
    ? "has tokenSecretFile and tokenPublicKeyFile; expected one of them"
    : "has no key; expected tokenSecretFile or tokenPublicKeyFile";
  return [{ path, message, isMissing: false }];
}

/** The same with files and folders made absolute. */
function located({ name, admin, gateway: given }: Checked, folder: string): Flow {
  const at = (path: string): string => resolve(folder, path);
  const maybe = (path: string | undefined): string | undefined => path && at(path);
  const { data, auth, tls, listen: addresses, limits: _, ...rest } = given;
  return {
    name,
    admin: admin && { ...admin, tokenFile: maybe(admin.tokenFile) },
    gateway: {
      ...rest,
      listen: addresses,
      data: data === "memory" ? "memory" : { folder: at(data) },
      tls: tls && { cert: at(tls.cert), key: at(tls.key) },
      auth: auth && {
        ...auth,
        tokenSecretFile: maybe(auth.tokenSecretFile),
        tokenPublicKeyFile: maybe(auth.tokenPublicKeyFile),
      },
    },
  };
}

function notMap(of: string): string {
  return `must be a map of ${of}`;
}
