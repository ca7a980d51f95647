import type { BrokerObserver } from "../../observe/broker-event.ts";
import type { DocumentStore } from "../document/document-store.ts";
import { FileDocumentStore } from "../document/file-document-store.ts";
import { MemoryDocumentStore } from "../document/memory-document-store.ts";
import { nodeFiles } from "../file/node-files.ts";
import { lockFolder, nodeProcesses } from "./folder-lock.ts";
import { DOCUMENT_ENDING, documentsFolder } from "./topic-folder.ts";

/** What a gateway in front of a cluster keeps: documents, and no topics. */
export interface GatewayStore {
  readonly documents: DocumentStore;
  close(): Promise<void>;
}

/**
 * Takes the folder, which is made if it is missing; its documents stand where a broker has them. Rejects if
 * another process has it: two gateways would overwrite each other's limits.
 */
export async function openGatewayStore(
  data: { readonly folder: string } | "memory" = "memory",
  observe: BrokerObserver,
): Promise<GatewayStore> {
  if (data === "memory") {
    const documents = new MemoryDocumentStore();
    return { documents, close: () => documents.close() };
  }
  const { folder } = data;
  await nodeFiles.makeFolder(folder);
  const lock = await lockFolder(nodeProcesses, folder);
  const place = { folder: documentsFolder(folder), ending: DOCUMENT_ENDING };
  const documents = new FileDocumentStore(nodeFiles, place, (error) =>
    observe({ kind: "damaged", topic: undefined, error }),
  );
  return {
    documents,
    close: async () => {
      try {
        await documents.close();
      } finally {
        await lock.release();
      }
    },
  };
}
