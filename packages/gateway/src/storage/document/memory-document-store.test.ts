import { describeDocumentStore } from "../../../test/document-store-contract.ts";
import { MemoryDocumentStore } from "./memory-document-store.ts";

describeDocumentStore("documents in memory", () => new MemoryDocumentStore());
