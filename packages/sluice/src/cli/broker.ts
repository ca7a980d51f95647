import { readFile } from "node:fs/promises";
import { ConfigError, SluiceError } from "@sluice/core";
import { startBroker } from "@sluice/gateway";
import type {
  BrokerObserver,
  RunningBroker,
  StartBrokerOptions,
  TokenOptions,
} from "@sluice/gateway";
import { Command } from "commander";
import type { ExitCode } from "./main.ts";
import { writeLines } from "./output.ts";
import { unreadable } from "./unreadable.ts";

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
  readonly json?: true;
}

const DATA_FOLDER = "./sluice-data";
const LISTEN = ["pulsar://127.0.0.1:6650"];
const LISTEN_TLS = "pulsar+ssl://127.0.0.1:6651";
const LINE_CHARS_MAX = 200;
const LINES_MAX = 1_000;
const EXAMPLES = `
Examples:
  sluice broker
  sluice broker --memory --partitions orders=4
  sluice broker --data /var/lib/sluice --token-secret-file secret.key
  sluice broker --tls-cert cert.pem --tls-key key.pem

Runs until SIGINT or SIGTERM: then what has come is stored and it exits with 0. A second signal ends
it at once. Exits with 1 if it cannot start, with 2 if an option is wrong.`;

export function brokerCommand(end: (code: ExitCode) => void): Command {
  return new Command("broker")
    .summary("run a broker for Pulsar clients on this machine")
    .description("Runs the embedded broker: Pulsar clients of any language connect to it.")
    .option("--listen <urls...>", "addresses, pulsar:// or pulsar+ssl:// (pulsar://127.0.0.1:6650)")
    .option("--advertised-host <host>", "the host that clients are sent to")
    .option("--data <folder>", `where everything is kept (${DATA_FOLDER})`)
    .option("--memory", "keep everything in memory only")
    .option("--partitions <topic=n...>", "topics with partitions")
    .option("--retention-bytes <n>", "keep so much of what everybody has consumed")
    .option("--retention-ms <n>", "keep what everybody has consumed for so long")
    .option("--token-secret-file <file>", "let in who has a token signed with this secret")
    .option("--token-public-key-file <file>", "the same with a key pair: its public half")
    .option("--tls-cert <file>", "a certificate, PEM")
    .option("--tls-key <file>", "its key, PEM")
    .option("--json", "print what there is to say as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (options: BrokerOptions) => {
      const stopped = untilSignal();
      const broker = await orFail(startBroker(await settingsOf(options)), end);
      if (broker === undefined) return;
      await writeLines(process.stdout, [readyLine(broker, options)]);
      await stopped;
      await orFail(broker.close(), end);
    });
}

/** What came of it; or, if it failed as it may, nothing but a line that says why. */
async function orFail<T>(work: Promise<T>, end: (code: ExitCode) => void): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof SluiceError) || error instanceof ConfigError) throw error;
    process.stderr.write(`${error.message}\n`);
    end(1);
    return undefined;
  }
}

/** Resolves with the first signal. From then on a signal does what it does to any process. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
  });
}

function readyLine({ urls }: RunningBroker, options: BrokerOptions): string {
  const data = options.memory ? null : (options.data ?? DATA_FOLDER);
  if (options.json) return JSON.stringify({ event: "ready", urls, data });
  return `ready on ${urls.join(" and ")}, ${data === null ? "in memory" : `data in ${data}`}`;
}

async function settingsOf(options: BrokerOptions): Promise<StartBrokerOptions> {
  const { listen, advertisedHost, data, memory, partitions = [] } = options;
  if (memory && data !== undefined)
    throw new ConfigError("--memory and --data exclude each other: one says to keep nothing");
  const tls = await tlsOf(options);
  const token = await tokenOf(options);
  return {
    listen: listen ?? (tls === undefined ? LISTEN : [...LISTEN, LISTEN_TLS]),
    data: memory ? "memory" : { folder: data ?? DATA_FOLDER },
    partitions: Object.fromEntries(partitions.map(parsePartitions)),
    broker: { retention: retentionOf(options) },
    ...(advertisedHost !== undefined && { advertisedHost }),
    ...(tls !== undefined && { tls }),
    ...(token !== undefined && { token }),
    observe: reportErrors(),
  };
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
  if (tokenSecretFile !== undefined) return { secretKey: await contentOf(tokenSecretFile) };
  if (tokenPublicKeyFile === undefined) return undefined;
  const content = await contentOf(tokenPublicKeyFile);
  // Pulsar's own tool writes DER, everybody else PEM.
  const text = content.toString("latin1");
  return { publicKey: text.startsWith("-----BEGIN") ? text : content };
}

async function contentOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw unreadable(file, "read", cause);
  }
}

/** Says each thing once: what goes wrong a thousand times a second does not fill a disk. */
function reportErrors(): BrokerObserver {
  const said = new Set<string>();
  return (event) => {
    if (event.kind !== "error") return;
    const { error } = event;
    const text = String(error instanceof Error ? error.message : error).slice(0, LINE_CHARS_MAX);
    if (said.has(text) || said.size >= LINES_MAX) return;
    said.add(text);
    process.stderr.write(`${text.replaceAll(/\p{C}/gu, " ")}\n`);
  };
}
