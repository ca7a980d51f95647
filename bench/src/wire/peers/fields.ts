/** The messages of a SEND, for libraries that take definitions: name, number, type, presence. */
type Presence = "required" | "optional" | "repeated";
export type FieldRow = readonly [string, number, string, Presence];

export const MESSAGES: Readonly<Record<string, readonly FieldRow[]>> = {
  KeyValue: [
    ["key", 1, "string", "required"],
    ["value", 2, "string", "required"],
  ],
  CommandSend: [
    ["producerId", 1, "uint64", "required"],
    ["sequenceId", 2, "uint64", "required"],
    ["numMessages", 3, "int32", "optional"],
    ["highestSequenceId", 6, "uint64", "optional"],
  ],
  BaseCommand: [
    ["type", 1, "int32", "required"],
    ["send", 6, "CommandSend", "optional"],
  ],
  MessageMetadata: [
    ["producerName", 1, "string", "required"],
    ["sequenceId", 2, "uint64", "required"],
    ["publishTime", 3, "uint64", "required"],
    ["properties", 4, "KeyValue", "repeated"],
    ["partitionKey", 6, "string", "optional"],
    ["compression", 8, "int32", "optional"],
    ["uncompressedSize", 9, "uint32", "optional"],
    ["numMessagesInBatch", 11, "int32", "optional"],
    ["eventTime", 12, "uint64", "optional"],
    ["highestSequenceId", 24, "uint64", "optional"],
  ],
};

export const SEND_TYPE = 6;
