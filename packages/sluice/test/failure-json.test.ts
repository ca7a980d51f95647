/** What standard error has of a command with `--json` that fails. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { runCli } from "../src/cli/main.ts";

/** Refuses every token. */
const server = createServer((_, response) => {
  response.writeHead(401).end(JSON.stringify({ reason: "the token is not valid" }));
});
let refusing = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  refusing = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each([
  ["wrong usage", () => ["why", "a", "b"], "USAGE", /too many arguments/, 2],
  ["an unknown option", () => ["top", "--frob"], "USAGE", /unknown option '--frob'/, 2],
  [
    "a file that is not there",
    () => ["run", "nowhere.yaml"],
    "CONFIG",
    /nowhere\.yaml cannot be/,
    2,
  ],
  ["a wrong limit", () => ["limits", "set", "broker"], "CONFIG", /no rate is given/, 2],
  ["no server", () => ["why", "--admin", "127.0.0.1:1"], "CONNECTION", /no gateway answers/, 1],
  ["a refused token", () => ["why", "--admin", refusing], "BROKER", /needs a token/, 1],
])(
  "with --json, %s is one object on standard error; without, the same message as text",
  async (_, args, code, message, exitCode) => {
    const written: string[] = [];
    const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    onTestFinished(() => spy.mockRestore());
    expect(await runCli([...args(), "--json"])).toBe(exitCode);
    const [line = "", ...others] = written.splice(0);
    expect(others).toEqual([]);
    const { error } = JSON.parse(line) as { readonly error: { readonly message: string } };
    expect(error).toEqual({ code, message: expect.stringMatching(message) as string, exitCode });
    expect(await runCli(args())).toBe(exitCode);
    expect(written.join("")).toBe(`${error.message}\n`);
  },
);
