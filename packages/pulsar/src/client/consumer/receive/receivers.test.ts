import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { MessageId } from "../../message/message-id.ts";
import { Receivers } from "./receivers.ts";
import { UnreadableMessageError } from "./unreadable-message-error.ts";

const receiversOf = (
  items: (string | UnreadableMessageError)[],
): { receivers: Receivers<string>; give: (...more: typeof items) => void } => {
  const receivers = new Receivers<string>(() => items.shift());
  const give = (...more: typeof items): void => {
    items.push(...more);
    receivers.serve();
  };
  return { receivers, give };
};

test("calls are served in their order", async () => {
  const { receivers, give } = receiversOf(["a"]);
  const order: string[] = [];
  const waits = ["first", "second", "third"].map(async (who) => {
    order.push(`${who} ${await receivers.receive()}`);
  });
  give("b", "c", "d");
  await Promise.all(waits);
  expect(order).toEqual(["first a", "second b", "third c"]);
  expect(await receivers.receive()).toBe("d");
});

test("an aborted call loses no message and leaves no listener", async () => {
  const { receivers, give } = receiversOf([]);
  const leaving = new AbortController();
  const given = receivers.receive(leaving.signal);
  const next = receivers.receive();
  leaving.abort(new Error("no time"));
  await expect(given).rejects.toThrow("no time");
  give("a");
  expect(await next).toBe("a");
  expect(receivers.waiting).toBe(0);
  leaving.abort();
  await expect(receivers.receive(leaving.signal)).rejects.toThrow("no time");
});

test("a signal that is aborted after a message came has no effect", async () => {
  const { receivers, give } = receiversOf([]);
  const late = new AbortController();
  const wait = receivers.receive(late.signal);
  give("a");
  expect(getEventListeners(late.signal, "abort")).toEqual([]);
  late.abort();
  expect(await wait).toBe("a");
});

test("an unreadable message rejects one call, whether it waits or comes later", async () => {
  const ids = { topic: "t", messageId: new MessageId(1n, 2n) };
  const unreadable = new UnreadableMessageError("is encrypted", ids);
  const { receivers, give } = receiversOf([unreadable]);
  await expect(receivers.receive()).rejects.toBe(unreadable);
  const [one, other] = [receivers.receive(), receivers.receive()];
  give(unreadable, "a");
  await expect(one).rejects.toBe(unreadable);
  expect(await other).toBe("a");
});

test("the end rejects all waiting and all later calls with its reason", async () => {
  const { receivers } = receiversOf([]);
  const wait = receivers.receive();
  receivers.end(new Error("over"));
  await expect(wait).rejects.toThrow("over");
  await expect(receivers.receive()).rejects.toThrow("over");
});

test("queued messages are taken together, and an unreadable one among them is told by the next call", () => {
  const messageId = MessageId.earliest;
  const unreadable = new UnreadableMessageError("is encrypted", { topic: "orders", messageId });
  const { receivers } = receiversOf(["a", "b", unreadable, "c"]);
  expect(receivers.takeQueued(1)).toEqual(["a"]);
  expect(receivers.takeQueued(9)).toEqual(["b"]);
  expect(() => receivers.takeQueued(9)).toThrow(unreadable);
  expect(receivers.takeQueued(9)).toEqual(["c"]);
  expect(receivers.takeQueued(9)).toEqual([]);
});

test("queued messages are not taken before a call that waits for them", async () => {
  const items: string[] = [];
  const receivers = new Receivers<string>(() => items.shift());
  const waits = receivers.receive();
  items.push("a", "b");
  expect(receivers.takeQueued(2)).toEqual([]);
  receivers.serve();
  expect(await waits).toBe("a");
  expect(receivers.takeQueued(2)).toEqual(["b"]);
});
