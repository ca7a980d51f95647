import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import { sinkContract } from "./sink-contract.ts";
import { sourceContract } from "./source-contract.ts";

sourceContract("memory", () => {
  const connector = new MemorySource<string>([], { isEndless: true });
  return Promise.resolve({
    connector,
    put: (values) => Promise.resolve(connector.add(...values)),
    tearDown: () => Promise.resolve(),
  });
});

sourceContract(
  "memory with an end",
  () => {
    const connector = new MemorySource<string>();
    return Promise.resolve({
      connector,
      put: (values) => Promise.resolve(connector.add(...values)),
      tearDown: () => Promise.resolve(),
    });
  },
  { hasEnd: true },
);

sinkContract(
  "memory",
  () => {
    let isFailing = false;
    const connector = new MemorySink({
      onWrite: () => {
        if (isFailing) throw new Error("the server is away");
      },
    });
    return Promise.resolve({
      connector,
      received: () => Promise.resolve(connector.values.map(text)),
      headers: () => Promise.resolve(connector.written[0]?.headers ?? {}),
      fail: () => {
        isFailing = true;
        return Promise.resolve();
      },
      mend: () => {
        isFailing = false;
        return Promise.resolve();
      },
      tearDown: () => Promise.resolve(),
    });
  },
  { takesAnyValue: true },
);

function text(value: unknown): string {
  return typeof value === "string" || Buffer.isBuffer(value)
    ? value.toString()
    : JSON.stringify(value);
}
