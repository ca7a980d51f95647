import { isLoopback, parseHttpAddress, parseListenAddress } from "@sluice/gateway/internal";
import type { Path, Problem } from "@sluice/lab/file";
import type { CheckedFlow, CheckedGateway } from "../schema/flow-schema.ts";
import {
  connectorMistakes,
  fleetMistakes,
  lineMistakes,
  moduleMistakes,
  rateLimitMistakes,
} from "../pipeline/pipeline-mistakes.ts";
import { sharingMistakes } from "./sharing.ts";
import { upstreamMistakes } from "../schema/upstream.ts";

/** Whether there is a file, by its path in the flow file. */
type IsFile = (path: string) => boolean;

/** Keys that a check reads; it is left out if one of them is wrong by itself. */
interface Check {
  readonly reads: readonly Path[];
  readonly find: () => readonly Problem[];
}

/** Values that are right by themselves and contradict each other. `wrong` are the places of those that are not. */
export function flowMistakes(
  flow: CheckedFlow,
  wrong: readonly Path[],
  isFile: IsFile,
): readonly Problem[] {
  const isWhole = (path: Path): boolean =>
    !wrong.some((one) => isWithin(one, path) || isWithin(path, one));
  // A key of the root that is not known may be one of them, misspelt.
  const isMisspelt = wrong.some((path) => path.length === 1 && !(String(path[0]) in flow));
  return checksOf(flow, isMisspelt, isFile)
    .filter(({ reads }) => reads.every(isWhole))
    .flatMap(({ find }) => find());
}

function checksOf(flow: CheckedFlow, isMisspelt: boolean, isFile: IsFile): readonly Check[] {
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
    ...pipelineChecks(flow, isFile),
  ];
}

function adminChecks({ admin }: CheckedFlow): readonly Check[] {
  return [{ reads: [["admin"]], find: () => adminMistakes(admin, undefined) }];
}

/** Of each pipeline by itself. */
function pipelineChecks(
  { name, store, gateway, pipelines = {} }: CheckedFlow,
  isFile: IsFile,
): readonly Check[] {
  const around = { store, hasGateway: gateway !== undefined };
  const checks = Object.entries(pipelines).flatMap(([each, pipeline]): readonly Check[] => {
    const path = ["pipelines", each];
    const vertices = [...path, "vertices"];
    return [
      { reads: [vertices], find: () => lineMistakes(each, pipeline) },
      { reads: [vertices], find: () => moduleMistakes(each, pipeline, isFile) },
      { reads: [[...path, "limits"], vertices], find: () => rateLimitMistakes(each, pipeline) },
      { reads: [path, ["store"]], find: () => fleetMistakes(each, pipeline, around) },
      {
        reads: [vertices, [...path, "deadLetter"], ["gateway"]],
        find: () => connectorMistakes(each, pipeline, around),
      },
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
