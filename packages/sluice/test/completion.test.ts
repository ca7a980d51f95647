import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));

function sluice(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

/** What bash offers for the last of these words. */
function offered(script: string, ...words: readonly string[]): readonly string[] {
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const run = `${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return spawnSync("bash", ["-c", run], { encoding: "utf8" }).stdout.trim().split("\n");
}

test("bash completes commands, subcommands and options", () => {
  const script = sluice("completion", "bash");
  expect(offered(script, "sluice", "ch")).toEqual(["check"]);
  expect(offered(script, "sluice", "limits", "")).toEqual(["get", "set", "unset", "--help"]);
  expect(offered(script, "sluice", "top", "--o")).toEqual(["--once"]);
});

test("zsh and fish get every command", () => {
  for (const shell of ["zsh", "fish"])
    for (const command of [
      "init",
      "run",
      "check",
      "schema",
      "why",
      "limits",
      "top",
      "simulate",
      "broker",
    ])
      expect(sluice("completion", shell)).toContain(command);
});

test("another shell is wrong usage", () => {
  const { status, stderr } = spawnSync(process.execPath, [bin, "completion", "tcsh"], {
    encoding: "utf8",
  });
  expect(status).toBe(2);
  expect(stderr).toMatch(/Allowed choices are bash, zsh, fish/);
});

test("help of the commands has examples", () => {
  for (const command of ["run", "schema", "top", "completion"])
    expect(sluice(command, "--help"), command).toMatch(/Examples:\n {2}sluice /);
});
