/**
 * Halts releases while most objects are missing without a deletion event. Then it is more likely that the API server lost them
 * (restored from a backup, connected to other data) than that they were deleted.
 */

/** Whether too many of the expected objects are missing at the same time. */
function isImplausible(missing: number, expected: number, minObjects: number): boolean {
  return expected >= minObjects && missing * 2 > expected;
}

export interface MassDeletionGuardOptions {
  /** The smallest number of objects at which the guard acts. */
  readonly minObjects: number;
  /** Whether an operator confirmed the mass deletion: the guard never acts. */
  readonly accept: boolean;
  /** How many objects were missing when an earlier process halted; 0 if it had not. */
  readonly missingBefore: number;
}

export class MassDeletionGuard {
  readonly #options: MassDeletionGuardOptions;
  #maxMissing: number;

  constructor(options: MassDeletionGuardOptions) {
    this.#options = options;
    this.#maxMissing = options.accept ? 0 : options.missingBefore;
  }

  /** The highest number of missing objects since the halt; 0 while releases are not halted. */
  get missing(): number {
    return this.#maxMissing;
  }

  /**
   * Returns whether releases are halted. The halt ends when half of the missing objects are back. New objects do not end it:
   * controllers create them as replacements of the missing ones.
   */
  update(missing: number, expected: number): boolean {
    const { minObjects, accept } = this.#options;
    if (accept) return false;
    if (this.#maxMissing > 0)
      this.#maxMissing = missing * 2 > this.#maxMissing ? Math.max(this.#maxMissing, missing) : 0;
    else if (isImplausible(missing, expected, minObjects)) this.#maxMissing = missing;
    return this.#maxMissing > 0;
  }
}
