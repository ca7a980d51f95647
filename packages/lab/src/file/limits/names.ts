import { formatTopicName, parseTopicName } from "@sluice/pulsar/sim";
import * as v from "valibot";
import { field, record } from "../fields.ts";
import { show } from "../show.ts";

/** How a file names topics. */
export interface LimitNames {
  readonly topic: v.GenericSchema<string>;
  /** Of the topics of a group. */
  readonly pattern: v.GenericSchema<string>;
}

/** Values by topic. Two names of one topic, such as orders and public/default/orders, are a mistake. */
export function byTopic<T>(
  { topic }: LimitNames,
  value: v.GenericSchema<unknown, T>,
  expected: string,
): v.GenericSchema<unknown, Record<string, T>> {
  return v.pipe(
    record(topic, value, `topics and their ${expected}`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const first = new Map<string, string>();
      for (const [key, limit] of Object.entries(dataset.value)) {
        const full = formatTopicName(parseTopicName(key));
        const former = first.get(full);
        first.set(full, former ?? key);
        if (former === undefined) continue;
        const message = `is the topic that ${show(former)} names too; keep one`;
        const place = { type: "object", origin: "value", input: dataset.value, key, value: limit };
        addIssue({ message, path: [place as v.ObjectPathItem] });
      }
    }),
  );
}

export function byNamespace<T>(
  value: v.GenericSchema<unknown, T>,
  expected: string,
): v.GenericSchema<unknown, Record<string, T>> {
  return record(namespace, value, `namespaces and their ${expected}`);
}

const namespace = field<string>(
  (value) => typeof value === "string" && /^[^/\s]+\/[^/\s]+$/.test(value),
  'a namespace such as "public/default"',
);
