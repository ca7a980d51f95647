import type { ConnectionOptions } from "node:tls";

/** Where a server listens. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** Certificates and keys are PEM text. */
export interface RedisTls {
  /** Certificates of the authorities to trust. Default: those that Node.js trusts. */
  readonly ca?: string;
  /** The client's certificate; needs `key`. Default: none. */
  readonly cert?: string;
  /** The private key of `cert`. Default: none. */
  readonly key?: string;
  /** The name that the server's certificate must have. Default: the host. */
  readonly serverName?: string;
  /** Accepts any certificate, so anybody on the way can read the password. @default false */
  readonly insecureSkipVerify?: boolean;
}

/** Checked credentials for one kind of server. */
export interface RedisLogin {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: RedisTls | undefined;
}

/** Where and how to connect, checked. */
export type RedisTarget = RedisLogin &
  (
    | { readonly kind: "single"; readonly address: RedisAddress; readonly database: number }
    | {
        readonly kind: "sentinel";
        readonly masterName: string;
        readonly endpoints: readonly RedisAddress[];
        /** Of the master. */
        readonly database: number;
        readonly sentinelLogin: RedisLogin;
      }
    | { readonly kind: "cluster"; readonly nodes: readonly RedisAddress[] }
  );

/** The options of `tls.connect`; undefined without TLS. */
export function tlsOptionsOf(tls: RedisTls | undefined): ConnectionOptions | undefined {
  if (tls === undefined) return undefined;
  const { serverName, insecureSkipVerify, ...pem } = tls;
  return {
    ...pem,
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
  };
}
