import { afterEach, describe, expect, test } from "vitest";
import { SERVER_ERROR } from "../src/wire/constants.ts";
import type { PeerSession } from "./scripted-broker.ts";
import { closeAll, outcomeOf, produce, TOPIC } from "./throttled-producer.ts";
import { producerIdOf, throttle } from "./throttling-broker.ts";

afterEach(closeAll);

/** PRODUCER is answered by a pause and then as `fail` says. */
async function failing(fail: (requestId: bigint, session: PeerSession) => void) {
  const setup = await produce();
  const { broker } = setup;
  const open = broker.script.producer ?? (() => undefined);
  broker.script.producer = ({ body: { producerId, requestId } }, session) => {
    throttle(session, { producerId, reason: "topic-rate", pauseMs: 1_000_000 });
    fail(requestId, session);
    return undefined;
  };
  broker.last.cut();
  const sent = outcomeOf(setup.producer);
  return { ...setup, sent, succeed: (): unknown => (broker.script.producer = open) };
}

const refuse =
  (error: number) =>
  (requestId: bigint, session: PeerSession): void =>
    session.tell({ kind: "error", body: { requestId, error, message: "no" } });

describe("a new attachment", () => {
  test.each(["lost connection", "producer closed by the broker"])(
    "after a %s starts unthrottled",
    async (how) => {
      const { broker, producer, timer, pause, changes } = await produce();
      await pause("topic-rate", 20_000);
      const sent = outcomeOf(producer);
      await timer.advance(100);
      const producerId = producerIdOf(broker.last, TOPIC);
      if (how === "lost connection") broker.last.cut();
      else broker.last.tell({ kind: "closeProducer", body: { producerId, requestId: 0n } });
      await timer.advance(0);
      expect(producer.isThrottled).toBe(false);
      await timer.advance(1_000);
      expect(sent.value).toBe("7:0:-1");
      expect(changes()).toEqual([
        [0, "throttled", "topic-rate", 20_000],
        [100, "unthrottled", "topic-rate", 100],
      ]);
    },
  );

  test("is throttled by a command that comes in the same read as PRODUCER_SUCCESS", async () => {
    const { broker, producer, timer } = await produce();
    const open = broker.script.producer;
    broker.script.producer = (command, session, entry) => {
      const answer = open?.(command, session, entry);
      if (answer !== undefined) session.tell(answer);
      const { producerId } = command.body;
      throttle(session, { producerId, reason: "topic-rate", pauseMs: 5_000 });
      return undefined;
    };
    broker.last.cut();
    const sent = outcomeOf(producer);
    await timer.advance(1_000);
    expect([producer.isThrottled, sent.value]).toEqual([true, "pending"]);
    await timer.advance(5_000);
    expect(sent.value).toBe("7:0:-1");
  });
});

describe("an attempt to attach that was throttled and failed", () => {
  test("leaves no pause to the next attempt", async () => {
    const { timer, sent, succeed } = await failing(refuse(SERVER_ERROR.ServiceNotReady));
    await timer.advance(150);
    succeed();
    await timer.advance(1_000);
    expect(sent.value).toBe("7:0:-1");
  });

  test("leaves no sleep to a producer that is closed or refused for good", async () => {
    const closing = await failing(refuse(SERVER_ERROR.ServiceNotReady));
    await closing.timer.advance(150);
    const closed = closing.client.close();
    await closing.timer.advance(60_000);
    await closed;
    expect(closing.timer.sleeping).toBe(0);
    const { timer, producer, sent } = await failing(refuse(SERVER_ERROR.TopicTerminatedError));
    await timer.advance(150);
    expect([producer.isClosed, producer.isThrottled]).toEqual([true, false]);
    expect(sent.value).toMatchObject({ serverError: "TopicTerminatedError" });
  });
});
