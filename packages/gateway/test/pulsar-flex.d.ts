/** As much as the tests use of a package that has no types. */
declare module "pulsar-flex" {
  interface Options {
    readonly topic: string;
    readonly discoveryServers: readonly string[];
    readonly jwt?: string;
    readonly logLevel?: number;
    readonly logCreator?: () => () => void;
  }

  export class Producer {
    static readonly ACCESS_MODES: { readonly SHARED: number };
    constructor(options: Options & { readonly producerAccessMode: number });
    create(): Promise<boolean>;
    sendMessage(message: FlexMessage): Promise<boolean>;
    sendBatch(batch: { readonly messages: readonly FlexMessage[] }): Promise<boolean>;
    close(): Promise<boolean>;
  }

  interface FlexMessage {
    readonly payload: string;
    readonly properties: Readonly<Record<string, string>>;
  }

  interface FlexDelivery {
    readonly message: Buffer;
    readonly properties: Readonly<Record<string, string>>;
    readonly redeliveryCount: number;
    readonly ack: (options?: { readonly type: number }) => Promise<unknown>;
  }

  export class Consumer {
    static readonly SUB_TYPES: { readonly EXCLUSIVE: number; readonly SHARED: number };
    static readonly ACK_TYPES: { readonly NEGATIVE: number };
    constructor(
      options: Options & {
        readonly subscription: string;
        readonly subType: number;
        readonly consumerName: string;
      },
    );
    subscribe(): Promise<void>;
    run(options: {
      readonly autoAck: boolean;
      readonly onMessage: (delivery: FlexDelivery) => Promise<void>;
    }): Promise<void>;
    unsubscribe(): Promise<void>;
  }
}
