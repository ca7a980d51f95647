import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { brokerProgram } from "../programs/found.ts";

/** A command hangs for its whole time-out if an answer has not the form that Java expects. */
const SHELL_TIMEOUT_MS = 180_000;

/** Runs commands of Pulsar's own shell (`admin …`, `client …`) in one JVM; the output of each. */
export async function runPulsarShell(
  urls: { readonly admin: string; readonly broker: string },
  commands: readonly string[],
): Promise<readonly string[]> {
  const broker = brokerProgram();
  if ("missing" in broker) throw new Error(broker.missing);
  const folder = await mkdtemp(join(tmpdir(), "sluice-shell-"));
  try {
    const conf = join(folder, "client.conf");
    const file = join(folder, "commands");
    await writeFile(conf, `webServiceUrl=${urls.admin}\nbrokerServiceUrl=${urls.broker}\n`);
    await writeFile(file, `${commands.join("\n")}\n`);
    const classPath = broker.args[broker.args.indexOf("-cp") + 1] ?? "";
    // The shell keeps its history in the home folder of Java.
    const java = ["-Xmx256m", `-Duser.home=${folder}`, "-cp", classPath];
    const shell = ["org.apache.pulsar.shell.PulsarShell", "-c", conf, "-np", "-f", file];
    const child = spawn(broker.command, [...java, ...shell], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: SHELL_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    const closed = once(child, "close");
    const [output] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    return output.split(/^\[\d+\/\d+\] Executing .*\n/m).slice(1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
