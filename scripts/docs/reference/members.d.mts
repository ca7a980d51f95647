import type { Statement } from "./api-pages.mjs";

export interface Member {
  readonly name: string;
  readonly type: string;
  readonly doc: string;
  readonly isOptional: boolean;
  readonly isMethod: boolean;
  readonly isStatic: boolean;
  readonly default: string | undefined;
}

export function membersOf(statement: Statement): readonly Member[];
export function docParts(doc: string): {
  readonly text: string;
  readonly default: string | undefined;
};
