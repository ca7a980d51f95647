import { isLoopback, parseHttpAddress, parseListenAddress } from "@sluice/gateway/internal";
import { placeName } from "@sluice/lab/file";
import type { Path, Problem } from "@sluice/lab/file";
import type { CheckedFlow, CheckedGateway } from "../schema/flow-schema.ts";
import {
  connectorMistakes,
  fleetMistakes,
  lineMistakes,
  moduleMistakes,
  rateLimitMistakes,
} from "../pipeline/pipeline-mistakes.ts";
import type { IsRight } from "../pipeline/pipeline-mistakes.ts";
import { sharingMistakes } from "./sharing.ts";
import { upstreamMistakes } from "../schema/upstream.ts";

/** Whether there is a file, by its path in the flow file. */
type IsFile = (path: string) => boolean;

/** Keys that a check reads; it is left out if one of them is wrong by itself. */
interface Check {
  readonly reads: readonly Path[];
  /** Levels below a key of `reads` at which a wrong value leaves the check out; absent: all. */
  readonly depth?: number;
  readonly find: () => readonly Problem[];
}

/** Values that are right by themselves and contradict each other. `wrong` are the places of those that are not. */
export function flowMistakes(
  flow: CheckedFlow,
  wrong: readonly Path[],
  isFile: IsFile,
): readonly Problem[] {
  const isRight: IsRight = (path, depth = Infinity) =>
    !wrong.some(
      (one) => isWithin(path, one) || (isWithin(one, path) && one.length <= path.length + depth),
    );
  // A key of the root that is not known may be one of them, misspelt.
  const isMisspelt = wrong.some((path) => path.length === 1 && !(String(path[0]) in flow));
  return checksOf(flow, { isMisspelt, isFile, isRight })
    .filter(({ reads, depth }) => reads.every((path) => isRight(path, depth)))
    .flatMap(({ find }) => find());
}

interface Surroundings {
  /** Whether a key of the root is not known. */
  readonly isMisspelt: boolean;
  readonly isFile: IsFile;
  readonly isRight: IsRight;
}

function checksOf(flow: CheckedFlow, around: Surroundings): readonly Check[] {
  const { isMisspelt } = around;
  const { gateway, pipelines } = flow;
  return [
    {
      reads: [],
      find: () =>
        gateway === undefined && pipelines === undefined && !isMisspelt
          ? [mistake([], "has neither gateway nor pipelines; expected at least one of them")]
          : [],
    },
    ...(gateway === undefined ? adminChecks(flow) : gatewayChecks(flow, gateway)),
    ...pipelineChecks(flow, around),
    { reads: [], find: () => addressMistakes(flow, around.isRight) },
  ];
}

function adminChecks({ admin }: CheckedFlow): readonly Check[] {
  return [{ reads: [["admin"]], find: () => adminMistakes(admin, undefined) }];
}

/** Of each pipeline by itself. */
function pipelineChecks(
  { name, store, gateway, pipelines = {} }: CheckedFlow,
  { isMisspelt, isFile, isRight }: Surroundings,
): readonly Check[] {
  const around = { store, hasGateway: gateway !== undefined || isMisspelt, isRight };
  const checks = Object.entries(pipelines).flatMap(([each, pipeline]): readonly Check[] => {
    const path = ["pipelines", each];
    // A vertex that is no map, or has a key that is wrong as a whole, is no link of a line.
    const line = { reads: [[...path, "vertices"]], depth: 2 };
    return [
      { ...line, find: () => lineMistakes(each, pipeline) },
      { ...line, find: () => moduleMistakes(each, pipeline, { isFile, isRight }) },
      { ...line, find: () => rateLimitMistakes(each, pipeline, isRight) },
      { ...line, find: () => connectorMistakes(each, pipeline, around) },
      { reads: [path, ["store"]], find: () => fleetMistakes(each, pipeline, around) },
    ];
  });
  if (checks.length === 0) return checks;
  return [{ reads: [["name"], ["pipelines"]], find: () => nameMistakes(name) }, ...checks];
}

/** The name is a part of every key in the store. */
function nameMistakes(name: string): readonly Problem[] {
  if (/^[-.\w]{1,64}$/.test(name)) return [];
  const shown = JSON.stringify(name.slice(0, 40));
  return [
    mistake(
      ["name"],
      `is ${shown}; expected 1 to 64 letters, digits, ., _ and -, for keys in the store`,
    ),
  ];
}

function gatewayChecks(
  { name, store, admin }: CheckedFlow,
  given: CheckedGateway,
): readonly Check[] {
  return [
    {
      reads: ofGateway("listen", "tls", "auth", "allowAnonymous"),
      find: () => given.listen.flatMap((url) => listenMistakes(url, given)),
    },
    { reads: ofGateway("auth"), find: () => authMistakes(given.auth) },
    { reads: [["admin"], ...ofGateway("auth")], find: () => adminMistakes(admin, given.auth) },
    {
      reads: [
        ["name"],
        ["store"],
        ["gateway", "limits", "broker"],
        ["gateway", "limits", "groups"],
      ],
      find: () => sharingMistakes(given.limits, { name, store }),
    },
    { reads: ofGateway("upstream"), find: () => clusterMistakes(given) },
  ];
}

/** Addresses of this process on which two parts of the file listen. Port 0 is a free one each time. */
function addressMistakes(
  { admin, gateway, pipelines = {} }: CheckedFlow,
  isRight: IsRight,
): readonly Problem[] {
  const places: { readonly path: Path; readonly read: () => { host: string; port: number } }[] = [];
  const listens = (path: Path, read: () => { host: string; port: number }): void => {
    if (isRight(path)) places.push({ path, read });
  };
  if (admin !== undefined) listens(["admin", "listen"], () => parseHttpAddress(admin.listen));
  if (isRight(["gateway", "listen"]))
    gateway?.listen.forEach((url, index) =>
      listens(
        gateway.listen.length === 1 ? ["gateway", "listen"] : ["gateway", "listen", index],
        () => parseListenAddress(url),
      ),
    );
  for (const [name, pipeline] of Object.entries(pipelines)) {
    const path = ["pipelines", name, "vertices", 0, "source", "http", "listen"];
    if (!isRight(path)) continue;
    const listen = pipeline.vertices[0]?.source;
    const address = listen?.kind === "http" ? listen.options["listen"] : undefined;
    if (typeof address === "string") listens(path, () => parseHttpAddress(address));
  }
  const seen = new Map<string, Path>();
  return places.flatMap(({ path, read }) => {
    const { host, port } = read();
    const address = `${host}:${port}`;
    const former = seen.get(address);
    if (former === undefined || port === 0) {
      seen.set(address, path);
      return [];
    }
    const what = `is ${address}, where ${placeName(former, "")} listens too; expected a port of its own`;
    return [mistake(path, what)];
  });
}

function ofGateway(...keys: readonly string[]): readonly Path[] {
  return keys.map((key) => ["gateway", key]);
}

/** Whether a place is this one, or inside of it. */
function isWithin(place: Path, outer: Path): boolean {
  return outer.every((segment, index) => place[index] === segment);
}

function listenMistakes(
  url: string,
  { tls, auth, allowAnonymous }: CheckedGateway,
): readonly Problem[] {
  const { host, isTls } = parseListenAddress(url);
  const path = ["gateway", "listen"];
  if (isTls && tls === undefined)
    return [mistake(path, `has ${url}, which needs a certificate; add gateway.tls`)];
  if (isTls || isLoopback(host) || auth !== undefined || allowAnonymous) return [];
  const what = `has ${url}, which other machines reach, without tokens and TLS`;
  return [mistake(path, `${what}; add gateway.auth or gateway.tls, or allowAnonymous: true`)];
}

/** Keys of the embedded broker. Who may connect, a cluster decides itself. */
const OF_BROKER = ["partitions", "retention", "messageTtl", "auth"] as const;

function clusterMistakes(given: CheckedGateway): readonly Problem[] {
  if (given.upstream === "embedded") return [];
  return [
    ...upstreamMistakes(given.upstream),
    ...OF_BROKER.filter((key) => given[key] !== undefined).map((key) =>
      mistake(["gateway", key], "is of the embedded broker; remove it, or set upstream: embedded"),
    ),
  ];
}

function authMistakes(auth: CheckedGateway["auth"]): readonly Problem[] {
  if (auth === undefined) return [];
  const path = ["gateway", "auth"];
  const keys = [auth.tokenSecretFile, auth.tokenPublicKeyFile].filter((key) => key !== undefined);
  if (keys.length === 1) return [];
  return keys.length === 0
    ? [mistake(path, "has no key; expected tokenSecretFile or tokenPublicKeyFile")]
    : [mistake(path, "has tokenSecretFile and tokenPublicKeyFile; expected one of them")];
}

function adminMistakes(
  admin: CheckedFlow["admin"],
  auth: CheckedGateway["auth"],
): readonly Problem[] {
  if (admin === undefined || admin.tokenFile !== undefined || auth !== undefined) return [];
  if (admin.readWithoutToken)
    return [
      mistake(
        ["admin", "readWithoutToken"],
        "is true, but no token is needed for anything; add admin.tokenFile, which changes will need then, or remove it",
      ),
    ];
  if (isLoopback(parseHttpAddress(admin.listen).host)) return [];
  const what = `is ${admin.listen}, which other machines reach, without a token`;
  return [mistake(["admin", "listen"], `${what}; add admin.tokenFile or gateway.auth`)];
}

function mistake(path: Path, message: string): Problem {
  return { path, message, isMissing: false };
}
