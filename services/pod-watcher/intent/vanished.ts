/**
 * When many are missing at once without anybody having seen them go, it is more likely that the API server forgot them
 * (restored from a backup, pointed elsewhere) than that they ended: then nothing is given up until most of them are back.
 */

/** Whether so many can be missing at once, of those that should be there. */
function implausible(missing: number, known: number, fewest: number): boolean {
  return known >= fewest && missing * 2 > known;
}

export interface VanishedOptions {
  /** How many there must be for a share of them to mean anything. */
  readonly fewest: number;
  /** Somebody has looked, and says that they are gone. */
  readonly accept: boolean;
  /** How many an earlier process missed; 0 when it had no doubts. */
  readonly before: number;
}

export class Vanished {
  readonly #options: VanishedOptions;
  #most: number;

  constructor(options: VanishedOptions) {
    this.#options = options;
    this.#most = options.accept ? 0 : options.before;
  }

  /** How many were missing at the worst moment of the doubt that lasts; 0 while there is none. */
  get most(): number {
    return this.#most;
  }

  /**
   * Whether there is doubt. It ends when half of what was missing is back; not when others join, which controllers make in
   * place of those that are missing.
   */
  judge(missing: number, known: number): boolean {
    const { fewest, accept } = this.#options;
    if (accept) return false;
    if (this.#most > 0) this.#most = missing * 2 > this.#most ? Math.max(this.#most, missing) : 0;
    else if (implausible(missing, known, fewest)) this.#most = missing;
    return this.#most > 0;
  }
}
