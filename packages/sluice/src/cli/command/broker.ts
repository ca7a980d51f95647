import { ConfigError } from "@sluice/core";
import { startBroker } from "@sluice/gateway";
import type { StartBrokerOptions, TokenOptions } from "@sluice/gateway";
import { Command } from "commander";
import { inspectCommand } from "./inspect.ts";
import type { ExitCode } from "../main.ts";
import { writeLines } from "../output.ts";
import { stopSignals } from "../stop-signals.ts";
import { bearerTokenOf, contentOf, publicKeyOf } from "../../file/content.ts";
import { serve } from "./serve.ts";
import type { Running, Served } from "./serve.ts";

interface BrokerOptions {
  readonly listen?: readonly string[];
  readonly advertisedHost?: string;
  readonly data?: string;
  readonly memory?: true;
  readonly partitions?: readonly string[];
  readonly retentionBytes?: string;
  readonly retentionMs?: string;
  readonly tokenSecretFile?: string;
  readonly tokenPublicKeyFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tokenNoExpiry?: true;
  readonly allowAnonymous?: true;
  readonly admin?: string;
  readonly adminTokenFile?: string;
  readonly json?: true;
}

const DATA_FOLDER = "./sluice-data";
const LISTEN = ["pulsar://127.0.0.1:6650"];
const LISTEN_TLS = "pulsar+ssl://127.0.0.1:6651";
const EXAMPLES = `
Examples:
  sluice broker
  sluice broker --memory --partitions orders=4
  sluice broker --data /var/lib/sluice --token-secret-file secret.key
  sluice broker --tls-cert cert.pem --tls-key key.pem
  sluice broker --admin 127.0.0.1:8080

Runs until SIGINT or SIGTERM: then what has come is stored and it exits with 0. A second signal ends
it at once. Exits with 1 if it cannot start, with 2 if an option is wrong.`;

export function brokerCommand(end: (code: ExitCode) => void): Command {
  return new Command("broker")
    .summary("run a broker for Pulsar clients on this machine")
    .description("Runs the embedded broker: Pulsar clients of any language connect to it.")
    .option("--listen <urls...>", "addresses, pulsar:// or pulsar+ssl:// (pulsar://127.0.0.1:6650)")
    .option("--advertised-host <host>", "the host that clients are sent to")
    .option(
      "--data <folder>",
      `where everything is kept (${DATA_FOLDER}); memory: nowhere, as --memory`,
    )
    .option("--memory", "keep everything in memory only")
    .option("--partitions <topic=n...>", "topics with partitions")
    .option(
      "--retention-bytes <n>",
      "keep at most this many bytes that all subscriptions have consumed",
    )
    .option(
      "--retention-ms <n>",
      "keep messages that all subscriptions have consumed for this long",
    )
    .option("--token-secret-file <file>", "require a token signed with this secret")
    .option("--token-public-key-file <file>", "the same with a key pair: its public half")
    .option("--token-no-expiry", "accept tokens without exp, as Pulsar's own tool makes them")
    .option("--allow-anonymous", "listen beyond this machine without tokens and TLS")
    .option("--tls-cert <file>", "a certificate, PEM")
    .option("--tls-key <file>", "its key, PEM")
    .option("--admin <address>", "serve the administration over HTTP, e.g. on 127.0.0.1:7070")
    .option("--admin-token-file <file>", "a bearer token for the administration")
    .option("--json", "print the ready line and events as JSON, one object on a line")
    .addHelpText("after", EXAMPLES)
    .addCommand(inspectCommand(end))
    .action(async (options: BrokerOptions) => {
      const signals = stopSignals();
      try {
        const served = await servedOf(options);
        if (signals.hasCome) return;
        await serve(served, signals, (running) =>
          writeLines(process.stdout, [readyLine(running, options)]),
        );
      } finally {
        signals.close();
      }
    });
}

function readyLine({ gateway, admin }: Running, options: BrokerOptions): string {
  const { urls = [] } = gateway ?? {};
  const data = keepsNothing(options) ? null : (options.data ?? DATA_FOLDER);
  if (options.json) {
    const ready = { event: "ready", urls, data };
    return JSON.stringify(admin === undefined ? ready : { ...ready, admin: admin.url });
  }
  const place = data === null ? "in memory" : `data in ${data}`;
  const administration = admin === undefined ? "" : `, administration on ${admin.url}`;
  return `ready on ${urls.join(" and ")}, ${place}${administration}`;
}

async function servedOf(options: BrokerOptions): Promise<Served> {
  const { admin: listen, adminTokenFile } = options;
  if (listen === undefined && adminTokenFile !== undefined)
    throw new ConfigError("--admin-token-file needs --admin, the address to serve on");
  const token = adminTokenFile === undefined ? undefined : await bearerTokenOf(adminTokenFile);
  const settings = await settingsOf(options);
  return {
    start: async (observe) => {
      const gateway = await startBroker({ ...settings, observe });
      return { gateway, close: () => gateway.close() };
    },
    admin: listen === undefined ? undefined : { listen, ...(token !== undefined && { token }) },
    title: { flow: "broker" },
    json: options.json ?? false,
  };
}

async function settingsOf(options: BrokerOptions): Promise<StartBrokerOptions> {
  const { listen, advertisedHost, data, memory, partitions = [], allowAnonymous } = options;
  if (memory && data !== undefined)
    throw new ConfigError("--memory and --data exclude each other: one says to keep nothing");
  const tls = await tlsOf(options);
  const token = await tokenOf(options);
  return {
    listen: listen ?? (tls === undefined ? LISTEN : [...LISTEN, LISTEN_TLS]),
    data: keepsNothing(options) ? "memory" : { folder: data ?? DATA_FOLDER },
    partitions: Object.fromEntries(partitions.map(parsePartitions)),
    broker: { retention: retentionOf(options) },
    allowAnonymous: allowAnonymous ?? false,
    ...(advertisedHost !== undefined && { advertisedHost }),
    ...(tls !== undefined && { tls }),
    ...(token !== undefined && { token }),
  };
}

/** `--data memory` is `data: memory` of a flow file; a folder of that name is `./memory`. */
function keepsNothing({ memory, data }: BrokerOptions): boolean {
  return memory === true || data === "memory";
}

function parsePartitions(text: string): readonly [string, number] {
  const [, topic = "", count = ""] = /^(.+)=(\d{1,6})$/.exec(text) ?? [];
  if (topic === "")
    throw new ConfigError(`--partitions ${text} is not like orders=4, a topic and a whole number`);
  return [topic, Number(count)];
}

/** One of both alone leaves the other without a limit; neither keeps nothing. */
function retentionOf({ retentionBytes, retentionMs }: BrokerOptions): {
  readonly sizeMaxBytes: number;
  readonly ageMaxMs: number;
} {
  if (retentionBytes === undefined && retentionMs === undefined)
    return { sizeMaxBytes: 0, ageMaxMs: 0 };
  return {
    sizeMaxBytes: parseWhole("--retention-bytes", retentionBytes) ?? Infinity,
    ageMaxMs: parseWhole("--retention-ms", retentionMs) ?? Infinity,
  };
}

function parseWhole(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ConfigError(`${name} is ${text}; it must be a whole number`);
}

async function tlsOf({ tlsCert, tlsKey }: BrokerOptions): Promise<StartBrokerOptions["tls"]> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new ConfigError("--tls-cert and --tls-key go together");
  return { cert: await contentOf(tlsCert), key: await contentOf(tlsKey) };
}

async function tokenOf(options: BrokerOptions): Promise<TokenOptions | undefined> {
  const { tokenSecretFile, tokenPublicKeyFile } = options;
  if (tokenSecretFile !== undefined && tokenPublicKeyFile !== undefined)
    throw new ConfigError("--token-secret-file and --token-public-key-file exclude each other");
  const allowNoExpiry = options.tokenNoExpiry ?? false;
  if (tokenSecretFile !== undefined)
    return { secretKey: await contentOf(tokenSecretFile), allowNoExpiry };
  if (tokenPublicKeyFile !== undefined)
    return { publicKey: await publicKeyOf(tokenPublicKeyFile), allowNoExpiry };
  if (options.tokenNoExpiry)
    throw new ConfigError("--token-no-expiry needs --token-secret-file or --token-public-key-file");
  return undefined;
}
