import { describeCursorStore } from "../../../test/cursor-store-contract.ts";
import { MemoryCursorStore } from "./memory-cursor-store.ts";

describeCursorStore("cursors in memory", () => new MemoryCursorStore());
