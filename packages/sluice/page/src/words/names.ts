/** A topic as the page calls it: without `persistent://` and without the default namespace. */
export function topicName(topic: string): string {
  const bare = topic.replace(/^persistent:\/\//, "");
  return bare.replace(/^public\/default\//, "").replace(/^public\//, "");
}

/** A sentence of the server with its topics as the page calls them. */
export function withTopicNames(text: string): string {
  return text.replaceAll(/(?<![\w/-])(?:persistent:\/\/)?public\/[^\s,;:]+/g, topicName);
}

/** What a vertex reads or writes, for people: the name of a topic, the host of a URL. */
export function peerName(peer: string | undefined): string | undefined {
  if (peer === undefined) return undefined;
  return /^https?:/.test(peer) && URL.canParse(peer) ? new URL(peer).host : topicName(peer);
}
