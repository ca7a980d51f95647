/** What one connection of a client was kept from. */
export class ConnectionFigures {
  /** Milliseconds of each second in which the gateway did not read. */
  readonly pausedPerSecond: number[];
  pausedMs = 0;
  /** The most bytes that the gateway held of the connection's producers. */
  heldBytesMax = 0;

  constructor(durationS: number) {
    this.pausedPerSecond = Array.from({ length: durationS }, () => 0);
  }

  onHeld(bytes: number): void {
    if (bytes > this.heldBytesMax) this.heldBytesMax = bytes;
  }

  /** `pausedMs`: since the beginning. */
  onSecond(second: number, pausedMs: number): void {
    this.pausedPerSecond[second] = pausedMs - this.pausedMs;
    this.pausedMs = pausedMs;
  }
}
