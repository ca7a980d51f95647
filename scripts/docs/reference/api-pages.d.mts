export interface Statement {
  readonly text: string;
  readonly doc: string;
}

export interface Declaration {
  readonly entry: string;
  readonly name: string;
  readonly statements: readonly Statement[];
}

export function publicDeclarations(root: string): readonly Declaration[];
