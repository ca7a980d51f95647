/** A producer of a scenario: what it wants to send, and how. */
export interface ProducerPlan {
  readonly id: string;
  /** The full name. */
  readonly topic: string;
  readonly perSecond: number;
  /** Of one message. */
  readonly bytes: number;
  /** Messages per SEND. */
  readonly batch: number;
  /** Producers that name the same connection share it. */
  readonly connection: string;
  /** Whether the producer knows the throttle commands. */
  readonly isAware: boolean;
  readonly fromS: number;
  readonly untilS: number;
  /** 0 for none. */
  readonly sendTimeoutMs: number;
  /** Messages without a receipt; while there are more, the application sends nothing. */
  readonly maxPending: number;
}
