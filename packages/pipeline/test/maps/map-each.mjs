/* oxlint-disable unicorn/require-post-message-target-origin, typescript/only-throw-error */
import { parentPort } from "node:worker_threads";

/** A map of one message at a time whose value says what it does. */
export default (message, { settings }) => {
  const { value } = message;
  switch (value?.do ?? value) {
    case "double":
      return { value: value.n * 2 };
    case "settings":
      return { value: settings };
    case "bytes":
      return { value: Buffer.from(value.text) };
    case "drop":
      return undefined;
    case "two":
      return [{ value: 1 }, { value: 2, key: "second" }];
    case "list of nothing":
      return [undefined];
    case "throw":
      throw new Error("cannot");
    case "throw-later":
      return Promise.reject(new Error("not now"));
    case "function":
      return { value: () => 1 };
    case "throw-nothing-later":
      process.nextTick(() => {
        throw undefined;
      });
      return new Promise(() => {});
    case "throw-unreadable":
      throw Object.create(null);
    case "post-anything":
      for (const sent of [null, 5, { place: {} }, { failed: 7 }, { place: 1, outputs: 1 }])
        parentPort.postMessage(sent);
      return { value };
    case "exit":
      process.exit(3);
      break;
    case "hang":
      for (;;);
    case "wait":
      return new Promise(() => {});
    case "leak": {
      const kept = [];
      for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
    }
    default:
      return Promise.resolve({ value: Buffer.isBuffer(value) ? value.toString() : value });
  }
};
