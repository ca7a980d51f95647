import { dirname, resolve } from "node:path";
import { ConfigError, SluiceError } from "@sluice/core";
import {
  Permissions,
  isLoopback,
  parseHttpAddress,
  parseListenAddress,
  parseTopicName,
} from "@sluice/gateway/internal";
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

/** Text that a parser of the broker takes. */
function parsedBy(parse: (text: string) => unknown, expected: string): v.GenericSchema<string> {
  return field<string>((value) => typeof value === "string" && isTaken(parse, value), expected);
}

function isTaken(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

const address = parsedBy(
  parseListenAddress,
  "an address such as pulsar://127.0.0.1:6650 or pulsar+ssl://127.0.0.1:6651",
);

const listen = v.lazy((value) =>
  Array.isArray(value)
    ? list(address, ITEMS_MAX)
    : v.pipe(
        address,
        v.transform((url) => [url]),
      ),
);

const patterns = list(
  parsedBy(
    (pattern) => new Permissions({ role: { produce: [pattern] } }),
    'a pattern of topics such as "public/default/*"',
  ),
  ITEMS_MAX,
);

const role = map({
  produce: v.optional(patterns, []),
  consume: v.optional(patterns, []),
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
    v.record(
      parsedBy(parseTopicName, "the name of a topic"),
      whole(1, 10_000),
      notMap("topics with their number"),
    ),
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
      listen: v.optional(
        parsedBy(parseHttpAddress, "an address such as 127.0.0.1:7070"),
        ADMIN_LISTEN,
      ),
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

function contradictions({ admin, gateway: given }: Checked): Problem[] {
  return [
    ...given.listen.flatMap((url) => listenMistakes(url, given)),
    ...authMistakes(given.auth),
    ...adminMistakes(admin, given.auth),
  ];
}

function listenMistakes(
  url: string,
  { tls, auth, allowAnonymous }: Checked["gateway"],
): readonly Problem[] {
  const { host, isTls } = parseListenAddress(url);
  const path = ["gateway", "listen"];
  if (isTls && tls === undefined)
    return [mistake(path, `has ${url}, which needs a certificate; add gateway.tls`)];
  if (isTls || isLoopback(host) || auth !== undefined || allowAnonymous) return [];
  const what = `has ${url}, which other machines reach, without tokens and TLS`;
  return [mistake(path, `${what}; add gateway.auth or gateway.tls, or allowAnonymous: true`)];
}

function authMistakes(auth: Checked["gateway"]["auth"]): readonly Problem[] {
  if (auth === undefined) return [];
  const path = ["gateway", "auth"];
  const keys = [auth.tokenSecretFile, auth.tokenPublicKeyFile].filter((key) => key !== undefined);
  if (keys.length === 1) return [];
  return keys.length === 0
    ? [mistake(path, "has no key; expected tokenSecretFile or tokenPublicKeyFile")]
    : [mistake(path, "has tokenSecretFile and tokenPublicKeyFile; expected one of them")];
}

function adminMistakes(
  admin: Checked["admin"],
  auth: Checked["gateway"]["auth"],
): readonly Problem[] {
  if (admin === undefined || admin.tokenFile !== undefined || auth !== undefined) return [];
  if (isLoopback(parseHttpAddress(admin.listen).host)) return [];
  const what = `is ${admin.listen}, which other machines reach, without a token`;
  return [mistake(["admin", "listen"], `${what}; add admin.tokenFile or gateway.auth`)];
}

function mistake(path: readonly string[], message: string): Problem {
  return { path, message, isMissing: false };
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
