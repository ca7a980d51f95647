/** What programs of clients print, checked: a client that answers something else is named, not misread. */
import type { ConsumeOutcome, ProduceOutcome, SeenMessage } from "./driver.ts";
import type { FloodedFlow, FloodOutcome } from "./flood.ts";

/** One line of a driver's answer. */
export type Answer = { readonly event: string } & Readonly<Record<string, unknown>>;

export function parseAnswer(line: string): Answer {
  const value: unknown = JSON.parse(line);
  const record = recordOf(value, line);
  const event = textOf(record, "event");
  return { ...record, event };
}

export function produceOutcome(answers: readonly Answer[]): ProduceOutcome {
  const done = doneOf(answers);
  return {
    sent: numberOf(done, "sent"),
    messageIds: listOf(done, "messageIds", isText),
    ms: numberOf(done, "ms"),
  };
}

export function floodOutcome(answers: readonly Answer[]): FloodOutcome {
  return { flows: listOf(doneOf(answers), "flows", isRecord).map(floodedFlow) };
}

export function consumeOutcome(answers: readonly Answer[]): ConsumeOutcome {
  const done = doneOf(answers);
  return {
    received: numberOf(done, "received"),
    distinct: numberOf(done, "distinct"),
    digest: textOf(done, "digest"),
    perKeyOrderBroken: numberOf(done, "perKeyOrderBroken"),
    duplicates: numberOf(done, "duplicates"),
    redelivered: numberOf(done, "redelivered"),
    ms: numberOf(done, "ms"),
    messages: answers.filter(({ event }) => event === "message").map(seenMessage),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function floodedFlow(flow: Fields): FloodedFlow {
  const receiptAtMs = listOf(flow, "receiptAtMs", isNumber);
  const latencyMs = listOf(flow, "latencyMs", isNumber);
  const [sent, failed] = [numberOf(flow, "sent"), numberOf(flow, "failed")];
  const receipts = receiptAtMs.length;
  if (latencyMs.length !== receipts)
    throw new Error(
      `${receipts} receipts have ${latencyMs.length} latencies; one each is expected`,
    );
  if (failed === 0 && receipts !== sent)
    throw new Error(`${sent} were sent and none failed, but ${receipts} have receipts`);
  return { sent, failed, error: textOf(flow, "error"), receiptAtMs, latencyMs };
}

function seenMessage(message: Answer): SeenMessage {
  const properties: Record<string, string> = {};
  for (const [name, value] of Object.entries(recordOf(message["properties"], "properties")))
    properties[name] = isText(value) ? value : wrong(`property ${name}`, value, "a text");
  return {
    body: textOf(message, "body"),
    key: message["key"] === null ? null : textOf(message, "key"),
    properties,
    messageId: textOf(message, "messageId"),
    redeliveryCount: numberOf(message, "redeliveryCount"),
  };
}

function doneOf(answers: readonly Answer[]): Answer {
  const done = answers.at(-1);
  return done?.event === "done" ? done : wrong("the last answer", done, "the event done");
}

function numberOf(fields: Fields, name: string): number {
  const value = fields[name];
  return isNumber(value) ? value : wrong(name, value, "a number");
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return isText(value) ? value : wrong(name, value, "a text");
}

function listOf<T>(fields: Fields, name: string, is: (item: unknown) => item is T): readonly T[] {
  const value: unknown = fields[name];
  if (!Array.isArray(value)) return wrong(name, value, "a list");
  return value.map((item: unknown) =>
    is(item) ? item : wrong(`an item of ${name}`, item, "other"),
  );
}

function recordOf(value: unknown, name: string): Fields {
  return isRecord(value) ? value : wrong(name, value, "an object");
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(name: string, value: unknown, expected: string): never {
  const found = JSON.stringify(value ?? null).slice(0, 200);
  throw new Error(`a client answered ${name}: ${found}; ${expected} is expected`);
}
