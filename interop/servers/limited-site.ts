import { createHmac, createPrivateKey, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { startBroker, startGateway } from "@sluice/gateway";
import type { BrokerEvent, GatewayIngress } from "@sluice/gateway";
import { AUTHORITY, LOCALHOST } from "../../packages/pulsar/test/certificates.ts";
import { atExit } from "./at-exit.ts";
import type { RealBroker } from "./real-broker.ts";
import { sharedBroker } from "./shared-broker.ts";

const LISTEN = ["pulsar://127.0.0.1:0", "pulsar+ssl://127.0.0.1:0"];

/** What a limited site counts while clients publish. */
interface SiteStats {
  readonly connections: number;
  readonly heldBytes: number;
  /** Milliseconds that connections were not read so far because of a limit, by its reason. */
  readonly pausedMs: Readonly<Record<string, number>>;
}

/** Our gateway with publish limits, for clients that have a token, with and without TLS. */
export interface LimitedSite {
  readonly url: string;
  /** Listens with TLS; in front of a real broker, that connection has TLS as well. */
  readonly tlsUrl: string;
  readonly token: string;
  readonly caFile: string;
  /** Events of connections that were refused or closed, and of failures. */
  readonly troubles: readonly BrokerEvent[];
  /** Messages per second of one topic. */
  limit(topic: string, messages: number): void;
  stats(): SiteStats;
  close(): Promise<void>;
}

/** A secret, a token signed with it, and the files of certificates. */
class Secrets {
  readonly secretKey: Buffer = randomBytes(32);
  readonly token: string = signed(this.secretKey);
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<Secrets> {
    const secrets = new Secrets(await mkdtemp(join(tmpdir(), "sluice-secrets-")));
    atExit(() => rmSync(secrets.folder, { recursive: true, force: true }));
    await writeFile(secrets.caFile, AUTHORITY);
    await writeFile(secrets.certFile, LOCALHOST.cert);
    // Java reads keys in PKCS #8 only.
    const key = createPrivateKey(LOCALHOST.key).export({ type: "pkcs8", format: "pem" });
    await writeFile(secrets.keyFile, key);
    return secrets;
  }

  get caFile(): string {
    return join(this.folder, "ca.pem");
  }

  get certFile(): string {
    return join(this.folder, "cert.pem");
  }

  get keyFile(): string {
    return join(this.folder, "key.pem");
  }
}

let secretsOfRun: Promise<Secrets> | undefined;

/** The same for all sites of a run, because they share a broker; the files go with the process. */
async function sharedSecrets(): Promise<Secrets> {
  secretsOfRun ??= Secrets.create();
  return secretsOfRun;
}

/** The gateway with its embedded broker, which stores in memory. */
export async function startEmbeddedSite(): Promise<LimitedSite> {
  const secrets = await sharedSecrets();
  const troubles: BrokerEvent[] = [];
  const observe = (event: BrokerEvent): unknown => isTrouble(event) && troubles.push(event);
  const broker = await startBroker({
    listen: LISTEN,
    data: "memory",
    token: { secretKey: secrets.secretKey },
    tls: LOCALHOST,
    limits: {},
    observe,
  });
  const { limits } = broker.ingress;
  return {
    url: broker.url,
    tlsUrl: broker.urls.find(isTls) ?? "",
    token: secrets.token,
    caFile: secrets.caFile,
    troubles,
    limit: (name, messages) =>
      limits.set({ level: "topic", name }, { messages }, systemTimer.now()),
    stats: () => ({
      ...broker.stats(),
      pausedMs: pausedMs(broker.ingress.pauses(systemTimer.now())),
    }),
    async close() {
      await broker.close();
    },
  };
}

/** Two gateways before Pulsar's own broker: one without TLS, one with TLS on both sides. */
export async function startRelaySite(): Promise<LimitedSite & { readonly broker: RealBroker }> {
  const secrets = await sharedSecrets();
  const { broker, token } = await securedBroker();
  const troubles: BrokerEvent[] = [];
  const observe = (event: BrokerEvent): unknown => isTrouble(event) && troubles.push(event);
  const plain = await startGateway({
    listen: LISTEN.slice(0, 1),
    upstream: broker.serviceUrl,
    observe,
  });
  const encrypted = await startGateway({
    listen: LISTEN.slice(1),
    upstream: { url: broker.tlsServiceUrl, tls: { ca: AUTHORITY } },
    tls: LOCALHOST,
    observe,
  });
  const gateways = [plain, encrypted];
  return {
    broker,
    url: plain.url,
    tlsUrl: encrypted.url,
    token,
    caFile: secrets.caFile,
    troubles,
    limit(name, messages) {
      for (const { ingress } of gateways)
        ingress.limits.set({ level: "topic", name }, { messages }, systemTimer.now());
    },
    stats() {
      const all = gateways.map((gateway) => gateway.stats());
      return {
        connections: all.reduce((sum, { connections }) => sum + connections, 0),
        heldBytes: all.reduce((sum, { heldBytes }) => sum + heldBytes, 0),
        pausedMs: pausedMs(gateways.flatMap(({ ingress }) => ingress.pauses(systemTimer.now()))),
      };
    },
    async close() {
      for (const gateway of gateways) await gateway.close();
    },
  };
}

/** Pulsar's own broker with token authentication and a TLS port, which other tests use as well. */
export async function securedBroker(): Promise<SecuredPlace> {
  const secrets = await sharedSecrets();
  const { token, certFile, keyFile } = secrets;
  const settings = tokenSettings(secrets);
  const broker = await sharedBroker({ settings, token, tls: { certFile, keyFile } });
  return { broker, token };
}

/** A broker of Pulsar, and a token that it accepts. */
export interface SecuredPlace {
  readonly broker: RealBroker;
  readonly token: string;
}

/** Token authentication for everybody, the broker's own clients included. */
function tokenSettings({ secretKey, token }: Secrets): Readonly<Record<string, string>> {
  return {
    authenticationEnabled: "true",
    authenticationProviders: "org.apache.pulsar.broker.authentication.AuthenticationProviderToken",
    tokenSecretKey: `data:;base64,${secretKey.toString("base64")}`,
    brokerClientAuthenticationPlugin: "org.apache.pulsar.client.impl.auth.AuthenticationToken",
    brokerClientAuthenticationParameters: `token:${token}`,
  };
}

function signed(secretKey: Buffer): string {
  const text = `${tokenPart({ alg: "HS256" })}.${tokenPart({ sub: "interop", exp: 4_000_000_000 })}`;
  return `${text}.${createHmac("sha256", secretKey).update(text).digest("base64url")}`;
}

function tokenPart(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function pausedMs(connections: ReturnType<GatewayIngress["pauses"]>): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { reason, pausedMs: ms } of connections.flatMap(({ pauses }) => pauses))
    sums[reason] = (sums[reason] ?? 0) + ms;
  return sums;
}

function isTls(url: string): boolean {
  return url.startsWith("pulsar+ssl://");
}

/** Changes of decisions are what these tests are about. */
const DECISIONS: ReadonlySet<BrokerEvent["kind"]> = new Set([
  "publish-throttled",
  "publish-resumed",
  "producer-told",
  "limit-changed",
]);

function isTrouble({ kind }: BrokerEvent): boolean {
  return !DECISIONS.has(kind);
}
