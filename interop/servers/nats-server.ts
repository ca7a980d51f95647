import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serverProgram } from "../programs/found.ts";
import { freePort, ServerProcess } from "./server-process.ts";

/** nats-server with JetStream; `login` are its options for users. */
export async function startNats(login: readonly string[] = []): Promise<ServerProcess> {
  const program = serverProgram("nats");
  if ("missing" in program) throw new Error(program.missing);
  const folder = await mkdtemp(join(tmpdir(), "sluice-nats-"));
  const port = await freePort();
  const own = ["-js", "-sd", join(folder, "data"), "-a", "127.0.0.1", "-p", String(port)];
  const server = new ServerProcess(folder, port, {
    command: program.command,
    args: [...program.args, ...own, ...login],
  });
  await server.start();
  return server;
}

export function natsUrl({ port }: ServerProcess): string {
  return `nats://127.0.0.1:${port}`;
}
