import { readChecked } from "../file/checked-file.ts";
import type { LogFiles } from "../file/log-files.ts";
import { SEAL_FILE, SEGMENT_FILE, idsOf } from "../segment/segment-folder.ts";
import { damaged, scanSegment } from "../segment/segment-scan.ts";
import { Segment, sealFile, segmentFile } from "../segment/segment.ts";
import { StorageError } from "../storage-error.ts";
import type { SegmentReport } from "./data-report.ts";
import type { Findings } from "./findings.ts";

/** Reads the segments of one topic through, from front to back, in bounded memory. */
export async function inspectSegments(
  files: LogFiles,
  folder: string,
  findings: Findings,
): Promise<readonly SegmentReport[]> {
  const names = await files.list(folder);
  const ledgerIds = idsOf(names, SEGMENT_FILE);
  const sealedIds = new Set(idsOf(names, SEAL_FILE));
  const reports: SegmentReport[] = [];
  let expectedId = ledgerIds[0];
  for (const ledgerId of ledgerIds) {
    if (expectedId !== undefined && expectedId < ledgerId)
      await findings.noteMissing(folder, segmentFile(expectedId), ledgerId - expectedId - 1);
    expectedId = ledgerId + 1;
    if (ledgerId !== ledgerIds.at(-1) && !sealedIds.has(ledgerId))
      await findings.noteMissing(folder, sealFile(ledgerId));
    const place = { folder, ledgerId, isSealed: sealedIds.has(ledgerId) };
    const report = await inspectSegment(files, place, findings);
    if (report !== undefined) reports.push(report);
  }
  return reports;
}

interface SegmentPlace {
  readonly folder: string;
  readonly ledgerId: number;
  readonly isSealed: boolean;
}

/** Undefined if a running broker has removed it meanwhile. */
async function inspectSegment(
  files: LogFiles,
  { folder, ledgerId, isSealed }: SegmentPlace,
  findings: Findings,
): Promise<SegmentReport | undefined> {
  const path = `${folder}/${segmentFile(ledgerId)}`;
  const seal = isSealed
    ? await findings.attempt(folder, sealFile(ledgerId), () => readSeal(files, folder, ledgerId))
    : undefined;
  const known = findings.damage.length;
  const scanned = await findings.attempt(folder, segmentFile(ledgerId), async () => {
    const file = await files.openToRead(path);
    try {
      const { segment, tornBytes } = await scanSegment(file, path, ledgerId);
      const bytes = await file.sizeBytes();
      return { segment, tornBytes, bytes };
    } finally {
      await file.close();
    }
  });
  const damage = findings.damage[known];
  const state = isSealed ? "sealed" : "open";
  if (scanned === undefined) {
    if (damage === undefined) return undefined;
    const { position } = findings.spotOf(damage);
    const entries = position?.entryId ?? 0;
    return { ledgerId, entries, bytes: seal?.sizeBytes ?? 0, state, tornBytes: 0, damage };
  }
  const { segment, tornBytes, bytes } = scanned;
  const entries = segment?.entryCount ?? 0;
  const isShort = seal !== undefined && (seal.entryCount !== entries || seal.sizeBytes !== bytes);
  if (!isShort) return { ledgerId, entries, bytes, state, tornBytes, damage: undefined };
  // A sealed segment has no torn tail: what does not check was stored.
  const offsetBytes = segment?.sizeBytes ?? 0;
  const found = findings.note(damaged(path, offsetBytes, { ledgerId, entryId: entries }));
  return { ledgerId, entries, bytes, state, tornBytes: 0, damage: found };
}

async function readSeal(files: LogFiles, folder: string, ledgerId: number): Promise<Segment> {
  const file = `${folder}/${sealFile(ledgerId)}`;
  const segment = Segment.fromSeal(await readChecked(files, file), ledgerId);
  if (segment !== undefined) return segment;
  throw new StorageError("damaged", `${file} is the seal of another segment`, { spot: { file } });
}
