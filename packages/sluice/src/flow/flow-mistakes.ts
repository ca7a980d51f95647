import { isLoopback, parseHttpAddress, parseListenAddress } from "@sluice/gateway/internal";
import type { Path, Problem } from "@sluice/lab/file";
import type { CheckedFlow } from "./flow-schema.ts";
import { sharingMistakes } from "./sharing.ts";
import { upstreamMistakes } from "./upstream.ts";

/** Keys that a check reads; it is left out if one of them is wrong by itself. */
interface Check {
  readonly reads: readonly Path[];
  readonly find: () => readonly Problem[];
}

/** Values that are right by themselves and contradict each other. `wrong` are the places of those that are not. */
export function flowMistakes(flow: CheckedFlow, wrong: readonly Path[]): readonly Problem[] {
  const isWhole = (path: Path): boolean =>
    !wrong.some((one) => isWithin(one, path) || isWithin(path, one));
  return checksOf(flow)
    .filter(({ reads }) => reads.every(isWhole))
    .flatMap(({ find }) => find());
}

function checksOf({ name, store, admin, gateway: given }: CheckedFlow): readonly Check[] {
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
  { tls, auth, allowAnonymous }: CheckedFlow["gateway"],
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
const OF_BROKER = ["partitions", "retention", "auth"] as const;

function clusterMistakes(given: CheckedFlow["gateway"]): readonly Problem[] {
  if (given.upstream === "embedded") return [];
  return [
    ...upstreamMistakes(given.upstream),
    ...OF_BROKER.filter((key) => given[key] !== undefined).map((key) =>
      mistake(["gateway", key], "is of the embedded broker; remove it, or set upstream: embedded"),
    ),
  ];
}

function authMistakes(auth: CheckedFlow["gateway"]["auth"]): readonly Problem[] {
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
  auth: CheckedFlow["gateway"]["auth"],
): readonly Problem[] {
  if (admin === undefined || admin.tokenFile !== undefined || auth !== undefined) return [];
  if (isLoopback(parseHttpAddress(admin.listen).host)) return [];
  const what = `is ${admin.listen}, which other machines reach, without a token`;
  return [mistake(["admin", "listen"], `${what}; add admin.tokenFile or gateway.auth`)];
}

function mistake(path: readonly string[], message: string): Problem {
  return { path, message, isMissing: false };
}
