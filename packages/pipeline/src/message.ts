/** A message on its way through a pipeline. A plain value: maps answer new ones, nobody changes one. */
export interface Message<T = unknown> {
  /** Unique within its source and the same when the source delivers the message again, so that a sink can leave out duplicates. */
  readonly id: string;
  readonly value: T;
  /** Messages of one key keep their order where source and sink keep it. */
  readonly key?: string | undefined;
  /** Text that travels with the message, such as `traceparent`. Names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the event happened, ms since 1970; undefined if the source does not say. */
  readonly eventTimeMs?: number | undefined;
}

/** What a map answers for a message. Fields that are left out are those of the message that came in. */
export type Output<T = unknown> = Pick<Message<T>, "value"> & Partial<Omit<Message<T>, "value">>;
