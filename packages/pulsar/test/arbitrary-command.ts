/** Arbitrary commands of every kind that we know. */
import type fc from "fast-check";
import { COMMANDS } from "../src/wire/command.ts";
import type { CommandKind, CommandOf } from "../src/wire/command.ts";
import { arbitraryMessage } from "./arbitrary-message.ts";

export const COMMAND_KINDS = Object.keys(COMMANDS) as CommandKind[];

export function arbitraryCommand<Kind extends CommandKind>(
  kind: Kind,
): fc.Arbitrary<CommandOf<Kind>> {
  return arbitraryMessage(COMMANDS[kind].body).map((body) => ({ kind, body }));
}
