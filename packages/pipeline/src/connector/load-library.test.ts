import { expect, test } from "vitest";
import { loadLibrary } from "./load-library.ts";

test("a client library that is not installed is told with the command that installs it", async () => {
  const missing = loadLibrary("kafkaSink", "kafkajs", () =>
    Promise.reject(new Error("Cannot find package")),
  );
  await expect(missing).rejects.toMatchObject({
    message: "kafkaSink cannot load its client library; run: npm install kafkajs",
    canHeal: false,
  });
});
