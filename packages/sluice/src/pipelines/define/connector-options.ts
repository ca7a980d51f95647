import { resolve } from "node:path";
import { ConfigError } from "@sluice/core";
import type { PulsarConnection } from "@sluice/pipeline";
import type { KafkaConnectionOptions } from "@sluice/pipeline/kafka";
import type { NatsConnectionOptions } from "@sluice/pipeline/nats";
import { bearerTokenOf, contentOf } from "../../file/content.ts";
import type { Chosen } from "../../flow/pipeline/choice.ts";
import type { GateMeters } from "../observe/gate-meters.ts";

export type GatewayBacklog = (
  topics: readonly string[],
  subscription: string,
) => Promise<number | undefined>;

/** What connectors are made with. */
export interface ConnectorWorld {
  /** Paths are taken from here: the folder of the flow file. */
  readonly folder: string;
  /** The broker of Pulsar connectors without a URL: the gateway of the same file. */
  readonly gatewayUrl: string | undefined;
  /** The backlog of a subscription in that gateway's own broker; undefined if messages are kept elsewhere. */
  readonly gatewayBacklog?: GatewayBacklog | undefined;
  readonly gates: GateMeters;
  /** How often the module in a file has changed; of maps in this process. Undefined: it is not watched. */
  readonly modules?: { of(file: string): number } | undefined;
  /** `pipeline/vertex`, of sinks. */
  readonly vertex: string;
  /** What lines of a map's program must not show: the secrets of the whole flow file. */
  readonly secrets: () => Promise<readonly string[]>;
}

/** A connector's options in a flow file. They are checked, so that a cast to what the check accepts is safe. */
export type Options = Chosen["options"];

export type Make<T> = (options: Options, world: ConnectorWorld) => T | Promise<T>;

export function pathIn(folder: string, path: unknown): string | undefined {
  return typeof path === "string" ? resolve(folder, path) : undefined;
}

/** A token in a file that an option names. */
export async function tokenIn(folder: string, path: unknown): Promise<string | undefined> {
  const file = pathIn(folder, path);
  return file === undefined ? undefined : bearerTokenOf(file);
}

/** A password in a file, without the line's end. */
async function passwordIn(folder: string, path: unknown): Promise<string | undefined> {
  const file = pathIn(folder, path);
  return file === undefined ? undefined : (await contentOf(file)).toString("utf8").trim();
}

/** A URL of Redis with the password of a file. */
export async function redisUrlOf(
  { url, passwordFile }: Options,
  { folder }: ConnectorWorld,
): Promise<string> {
  const password = await passwordIn(folder, passwordFile);
  if (password === undefined) return url as string;
  const full = new URL(url as string);
  full.password = encodeURIComponent(password);
  return full.href;
}

export async function pulsarConnectionOf(
  { url, tokenFile, tls }: Options,
  { folder, gatewayUrl }: ConnectorWorld,
): Promise<PulsarConnection> {
  const broker = (url as string | undefined) ?? gatewayUrl;
  if (broker === undefined) throw new ConfigError("pulsar has no url; give one, or add a gateway");
  const token = await tokenIn(folder, tokenFile);
  const files = tls as Readonly<Record<"ca" | "cert" | "key", string | undefined>> | undefined;
  return {
    url: broker,
    ...(token !== undefined && { token }),
    ...(files !== undefined && {
      tls: {
        ca: await fileIn(folder, files.ca),
        cert: await fileIn(folder, files.cert),
        key: await fileIn(folder, files.key),
      },
    }),
  };
}

export async function natsConnectionOf(
  { servers, tokenFile, user, passwordFile }: Options,
  { folder }: ConnectorWorld,
): Promise<NatsConnectionOptions> {
  const token = await tokenIn(folder, tokenFile);
  const pass = await passwordIn(folder, passwordFile);
  return {
    servers: servers as readonly string[],
    connection: {
      ...(token !== undefined && { token }),
      ...(typeof user === "string" && { user }),
      ...(pass !== undefined && { pass }),
    },
  };
}

interface SaslBlock {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly username: string;
  readonly passwordFile: string;
}

export async function kafkaConnectionOf(
  { brokers, tls, sasl }: Options,
  { folder }: ConnectorWorld,
): Promise<KafkaConnectionOptions> {
  const login = sasl as SaslBlock | undefined;
  return {
    brokers: brokers as readonly string[],
    ...(tls === true && { ssl: true }),
    ...(login !== undefined && {
      sasl: {
        mechanism: login.mechanism,
        username: login.username,
        password: (await passwordIn(folder, login.passwordFile)) ?? "",
      } as NonNullable<KafkaConnectionOptions["sasl"]>,
    }),
  };
}

async function fileIn(folder: string, path: string | undefined): Promise<Buffer | undefined> {
  const file = pathIn(folder, path);
  return file === undefined ? undefined : contentOf(file);
}
