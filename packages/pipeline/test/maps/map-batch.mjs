/** A map of whole batches that fails for a batch with the value "bad", and ends its thread for "exit". */
export function batch(messages) {
  if (messages.some(({ value }) => value === "exit")) process.exit(1);
  if (messages.some(({ value }) => value === "bad")) throw new Error("bad batch");
  if (messages.some(({ value }) => value === "short")) return [];
  return messages.map(({ value }) => ({ value: `${value} of ${messages.length}` }));
}
