import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Kafka, logLevel } from "kafkajs";
import { systemTimer } from "@sluice/core/system";
import { serverProgram } from "../programs/found.ts";
import { freePort, ServerProcess } from "./server-process.ts";

/** Formatting the storage starts a JVM. */
const FORMAT_TIMEOUT_MS = 120_000;
const READY_TIMEOUT_MS = 120_000;
const POLL_MS = 200;
/** Any; base64 of 16 bytes. */
const CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk";

/** One Kafka broker that is its own controller (KRaft), with a second port for users with passwords. */
export class KafkaServer {
  readonly #process: ServerProcess;
  readonly saslBroker: string;

  private constructor(process: ServerProcess, saslPort: number) {
    this.#process = process;
    this.saslBroker = `127.0.0.1:${saslPort}`;
  }

  static async start(): Promise<KafkaServer> {
    const program = serverProgram("kafka");
    if ("missing" in program) throw new Error(program.missing);
    const folder = await mkdtemp(join(tmpdir(), "sluice-kafka-"));
    const [port, saslPort, controller] = [await freePort(), await freePort(), await freePort()];
    const file = join(folder, "server.properties");
    await writeFile(file, settingsOf({ folder, port, saslPort, controller }));
    const format = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", file];
    try {
      await promisify(execFile)(program.command, [...program.args, ...format], {
        cwd: folder,
        timeout: FORMAT_TIMEOUT_MS,
      });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    const args = [...program.args, "kafka.Kafka", file];
    const process = new ServerProcess(folder, port, { command: program.command, args });
    const server = new KafkaServer(process, saslPort);
    await server.restart();
    return server;
  }

  get broker(): string {
    return `127.0.0.1:${this.#process.port}`;
  }

  /** Starts it again after `kill`, with the same data. */
  async restart(): Promise<void> {
    await this.#process.start();
    const untilMs = systemTimer.now() + READY_TIMEOUT_MS;
    while (!(await this.#isReady())) {
      if (systemTimer.now() > untilMs) throw new Error("Kafka answers, but is not ready");
      await systemTimer.sleep(POLL_MS);
    }
  }

  async kill(): Promise<void> {
    await this.#process.kill();
  }

  async stop(): Promise<void> {
    await this.#process.stop();
  }

  async createTopic(topic: string, partitions: number): Promise<void> {
    const admin = this.client().admin();
    await admin.connect();
    await admin.createTopics({
      topics: [{ topic, numPartitions: partitions, replicationFactor: 1 }],
      waitForLeaders: true,
    });
    await admin.disconnect();
  }

  client(): Kafka {
    return new Kafka({ clientId: "test", brokers: [this.broker], logLevel: logLevel.NOTHING });
  }

  async #isReady(): Promise<boolean> {
    const admin = this.client().admin({ retry: { retries: 0 } });
    try {
      await admin.connect();
      const { brokers } = await admin.describeCluster();
      return brokers.length > 0;
    } catch {
      return false;
    } finally {
      await admin.disconnect();
    }
  }
}

interface Ports {
  readonly folder: string;
  readonly port: number;
  readonly saslPort: number;
  readonly controller: number;
}

function settingsOf({ folder, port, saslPort, controller }: Ports): string {
  const host = "127.0.0.1";
  const login = "org.apache.kafka.common.security.plain.PlainLoginModule required";
  const settings: Readonly<Record<string, string | number>> = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@${host}:${controller}`,
    listeners: `PLAINTEXT://${host}:${port},SASL_PLAINTEXT://${host}:${saslPort},CONTROLLER://${host}:${controller}`,
    "advertised.listeners": `PLAINTEXT://${host}:${port},SASL_PLAINTEXT://${host}:${saslPort}`,
    "listener.security.protocol.map":
      "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": `${login} user_me="right-one";`,
    "log.dirs": join(folder, "data"),
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    // Tests of members that have died must not wait long.
    "group.min.session.timeout.ms": 1000,
    "auto.create.topics.enable": "false",
    "num.network.threads": 2,
    "num.io.threads": 2,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
