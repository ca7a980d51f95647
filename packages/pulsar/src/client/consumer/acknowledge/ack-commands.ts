import type { CommandOf } from "../../../wire/command.ts";
import { ACK_TYPE } from "../../../wire/constants.ts";
import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import { VALIDATION_ERROR } from "../receive/corrupt-entry-error.ts";
import type { ValidationErrorName } from "../receive/corrupt-entry-error.ts";
import { ackIdOf } from "./pending-acks.ts";
import type { AckGroup } from "./pending-acks.ts";

/** The ACK commands of a group. */
export function ackCommands(
  consumerId: bigint,
  { cumulative, individual }: AckGroup,
): CommandOf<"ack">[] {
  const commands: CommandOf<"ack">[] = [];
  if (cumulative !== undefined) {
    const messageIds = [ackIdOf(cumulative)];
    commands.push({
      kind: "ack",
      body: { consumerId, ackType: ACK_TYPE.cumulative, messageIds },
    });
  }
  if (individual.length > 0) {
    const messageIds = individual.map(ackIdOf);
    commands.push({
      kind: "ack",
      body: { consumerId, ackType: ACK_TYPE.individual, messageIds },
    });
  }
  return commands;
}

/** Acknowledges an entry with a validation error: the broker does not deliver it again. */
export function corruptAckCommand(
  consumerId: bigint,
  id: MessageIdData,
  validationError: ValidationErrorName,
): CommandOf<"ack"> {
  return {
    kind: "ack",
    body: {
      consumerId,
      ackType: ACK_TYPE.individual,
      messageIds: [id],
      validationError: VALIDATION_ERROR[validationError],
    },
  };
}
