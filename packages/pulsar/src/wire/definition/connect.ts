/** Handshake and keep-alive. */
import { bool, bytes, int32, message, optional, required, string } from "../message.ts";
import type { MessageType, WithUnknown } from "../message.ts";

export interface FeatureFlags extends WithUnknown {
  readonly supportsAuthRefresh?: boolean | undefined;
  readonly supportsBrokerEntryMetadata?: boolean | undefined;
  readonly supportsPartialProducer?: boolean | undefined;
  readonly supportsTopicWatchers?: boolean | undefined;
  readonly supportsGetPartitionedMetadataWithoutAutoCreation?: boolean | undefined;
  readonly supportsReplDedupByLidAndEid?: boolean | undefined;
}

const FEATURE_FLAGS: MessageType<FeatureFlags> = message("FeatureFlags", {
  supportsAuthRefresh: optional(1, bool),
  supportsBrokerEntryMetadata: optional(2, bool),
  supportsPartialProducer: optional(3, bool),
  supportsTopicWatchers: optional(4, bool),
  supportsGetPartitionedMetadataWithoutAutoCreation: optional(5, bool),
  supportsReplDedupByLidAndEid: optional(6, bool),
});

interface AuthData extends WithUnknown {
  readonly authMethodName?: string | undefined;
  readonly authData?: Uint8Array | undefined;
}

const AUTH_DATA: MessageType<AuthData> = message("AuthData", {
  authMethodName: optional(1, string),
  authData: optional(2, bytes),
});

export interface CommandConnect extends WithUnknown {
  readonly clientVersion: string;
  /** An enum that `authMethodName` replaces. */
  readonly authMethod?: number | undefined;
  readonly authData?: Uint8Array | undefined;
  readonly protocolVersion?: number | undefined;
  readonly authMethodName?: string | undefined;
  readonly proxyToBrokerUrl?: string | undefined;
  readonly originalPrincipal?: string | undefined;
  readonly originalAuthData?: string | undefined;
  readonly originalAuthMethod?: string | undefined;
  readonly featureFlags?: FeatureFlags | undefined;
  readonly proxyVersion?: string | undefined;
}

export const CONNECT: MessageType<CommandConnect> = message("CommandConnect", {
  clientVersion: required(1, string),
  authMethod: optional(2, int32),
  authData: optional(3, bytes),
  protocolVersion: optional(4, int32),
  authMethodName: optional(5, string),
  proxyToBrokerUrl: optional(6, string),
  originalPrincipal: optional(7, string),
  originalAuthData: optional(8, string),
  originalAuthMethod: optional(9, string),
  featureFlags: optional(10, FEATURE_FLAGS),
  proxyVersion: optional(11, string),
});

export interface CommandConnected extends WithUnknown {
  readonly serverVersion: string;
  readonly protocolVersion?: number | undefined;
  readonly maxMessageSize?: number | undefined;
  readonly featureFlags?: FeatureFlags | undefined;
}

export const CONNECTED: MessageType<CommandConnected> = message("CommandConnected", {
  serverVersion: required(1, string),
  protocolVersion: optional(2, int32),
  maxMessageSize: optional(3, int32),
  featureFlags: optional(4, FEATURE_FLAGS),
});

export interface CommandAuthChallenge extends WithUnknown {
  readonly serverVersion?: string | undefined;
  readonly challenge?: AuthData | undefined;
  readonly protocolVersion?: number | undefined;
}

export const AUTH_CHALLENGE: MessageType<CommandAuthChallenge> = message("CommandAuthChallenge", {
  serverVersion: optional(1, string),
  challenge: optional(2, AUTH_DATA),
  protocolVersion: optional(3, int32),
});

export interface CommandAuthResponse extends WithUnknown {
  readonly clientVersion?: string | undefined;
  readonly response?: AuthData | undefined;
  readonly protocolVersion?: number | undefined;
}

export const AUTH_RESPONSE: MessageType<CommandAuthResponse> = message("CommandAuthResponse", {
  clientVersion: optional(1, string),
  response: optional(2, AUTH_DATA),
  protocolVersion: optional(3, int32),
});

export type CommandPing = WithUnknown;

export const PING: MessageType<CommandPing> = message("CommandPing", {});

export type CommandPong = WithUnknown;

export const PONG: MessageType<CommandPong> = message("CommandPong", {});
