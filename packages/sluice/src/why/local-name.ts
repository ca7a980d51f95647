import { shortTopic } from "@sluice/gateway/internal";

/** Topics of the default namespace without it. */
export function localName(topic: string): string {
  return shortTopic(topic).replace(/^public\/default\//, "");
}

/** The last part of a topic's name, where there is little room. */
export function lastName(topic: string): string {
  return topic.split("/").at(-1) ?? topic;
}
