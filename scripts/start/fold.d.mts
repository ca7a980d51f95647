export interface StartLine {
  readonly kind: string;
  readonly text: string;
}
export class LineFold {
  offer(line: StartLine, nowMs: number): string | undefined;
  due(nowMs: number): readonly string[];
  clear(): void;
}
