import type { LogFiles } from "../file/log-files.ts";
import { StorageError } from "../storage-error.ts";
import type { StorageSpot } from "../storage-error.ts";
import type { Damage } from "./data-report.ts";

/** The damage that an inspection has found, in the order in which it was met. */
export class Findings {
  readonly damage: Damage[] = [];
  readonly #files: LogFiles;
  readonly #spots = new Map<Damage, StorageSpot>();

  constructor(files: LogFiles) {
    this.#files = files;
  }

  note({ message, spot }: StorageError): Damage {
    const damage = { file: spot.file ?? "", offsetBytes: spot.offsetBytes, message };
    this.damage.push(damage);
    this.#spots.set(damage, spot);
    return damage;
  }

  spotOf(damage: Damage): StorageSpot {
    return this.#spots.get(damage) ?? {};
  }

  /**
   * A file that should be there, unless a running broker has just removed those before it; and how
   * many after it are missing too.
   */
  async noteMissing(folder: string, name: string, moreAfterIt = 0): Promise<void> {
    const file = `${folder}/${name}`;
    if ((await this.#files.list(folder)).includes(name)) return;
    const more = moreAfterIt === 0 ? "" : `, and so are the ${moreAfterIt} after it`;
    this.note(new StorageError("damaged", `${file} is missing${more}`, { spot: { file } }));
  }

  /**
   * The result of reading a file; undefined if it is damaged, which is noted, or if a running broker
   * has removed it since the folder was listed.
   */
  async attempt<T>(folder: string, name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      const names = await this.#files.list(folder).catch((): readonly string[] => []);
      if (!names.includes(name)) return undefined;
      if (error.kind !== "damaged") throw error;
      this.note(error);
      return undefined;
    }
  }
}
