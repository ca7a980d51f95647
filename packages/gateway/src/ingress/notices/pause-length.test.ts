import { expect, test } from "vitest";
import { IngressScene } from "../../../test/ingress-scene.ts";

test("a pause lasts until all that the producer still has waiting has gone, in few notices", () => {
  const scene = new IngressScene({ topics: { "a/b/c": { messages: 100 } } });
  const client = scene.client(true);
  const producer = client.open("a/b/c");
  // 100 go at once, 300 wait for 3 s.
  for (let i = 0; i < 400; i++) producer.send(1, 100);
  for (let atMs = 10; atMs <= 1_000; atMs += 10) {
    scene.run(atMs);
    for (const { requestId } of client.notices) client.connection.receipt(requestId, atMs);
  }
  expect(client.notices.length).toBeLessThanOrEqual(5);
  expect(client.notices.at(-1)?.pauseMs).toBeGreaterThan(2_900);
});

test("a pause lasts until the producer's own frames have had their turns, however many others wait", () => {
  const scene = new IngressScene({ topicDefault: { messages: 100 } });
  const plain = scene.client().open("t");
  const client = scene.client(true);
  const producer = client.open("t");
  for (let i = 0; i < 1_100; i++) plain.send();
  for (let i = 0; i < 5; i++) producer.send();
  scene.run(50);
  // Two producers have turns, so its five go after ten.
  const [last] = client.notices.slice(-1);
  expect(last?.pauseMs).toBeGreaterThan(40);
  expect(last?.pauseMs).toBeLessThanOrEqual(110);
});

test("a pause is shortened when those who had turns before have left", () => {
  const scene = new IngressScene({ topicDefault: { messages: 100 } });
  const others = scene.client();
  const client = scene.client(true);
  const producer = client.open("t");
  for (let i = 0; i < 9; i++) {
    const other = others.open("t");
    for (let sent = 0; sent < 100; sent++) other.send();
  }
  for (let i = 0; i < 20; i++) producer.send();
  scene.run(20);
  expect(client.notices.at(-1)?.pauseMs).toBeGreaterThan(1_500);
  scene.run(40);
  for (const { requestId } of client.notices) client.connection.receipt(requestId, 40);
  others.connection.end(40);
  scene.run(60);
  expect(client.notices.at(-1)?.pauseMs).toBeLessThanOrEqual(210);
});
