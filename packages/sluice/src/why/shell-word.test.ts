import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWord } from "./shell-word.ts";

test("a shell reads any name as one word, and runs nothing of it", () => {
  for (const name of [
    "$(echo run)",
    "`echo run`",
    "a; echo b",
    "it's \"q\" 'r'",
    "<img src=x>",
    "a\\",
  ])
    expect(execFileSync("sh", ["-c", `printf %s ${shellWord(name)}`], { encoding: "utf8" })).toBe(
      name,
    );
});

test("a usual name of a topic needs no quotes", () => {
  expect(shellWord("public/default/orders-2026.v1:a")).toBe("public/default/orders-2026.v1:a");
});
