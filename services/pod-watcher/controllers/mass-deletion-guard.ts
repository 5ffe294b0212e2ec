/**
 * Halts releases while most objects of a scope are missing without a deletion. In that case the API
 * server has probably lost them (restored from a backup, connected to other data). A scope is a
 * namespace, or all objects.
 */

/** The scope of all objects. No namespace has this name. */
export const allObjects = '*';

/** The number of missing objects of a scope, and of all expected ones, missing included. */
export interface ScopeCounts {
  readonly missing: number;
  readonly expected: number;
}

export interface MassDeletionGuardOptions {
  /** The smallest number of objects of a scope at which the guard acts. */
  readonly minObjects: number;
  /** The number of missing objects when an earlier process halted a scope, by scope. */
  readonly haltedBefore?: Readonly<Record<string, number>>;
}

export class MassDeletionGuard {
  readonly #minObjects: number;
  /** The highest number of missing objects since a scope was halted, by scope. */
  readonly #halted: Map<string, number>;
  /** The number of missing objects that an operator accepted as deleted, by scope. */
  readonly #accepted = new Map<string, number>();

  constructor({ minObjects, haltedBefore = {} }: MassDeletionGuardOptions) {
    this.#minObjects = minObjects;
    this.#halted = new Map(Object.entries(haltedBefore).filter(([, missing]) => missing > 0));
  }

  /** The highest number of missing objects since a scope was halted, by scope. */
  get halted(): ReadonlyMap<string, number> {
    return this.#halted;
  }

  /** Whether an operator accepted this number of missing objects in the scope. */
  isAccepted(scope: string, missing: number): boolean {
    return missing <= (this.#accepted.get(scope) ?? 0);
  }

  /** The scopes whose mass deletion is accepted, and not over yet. */
  get accepted(): readonly string[] {
    return [...this.#accepted.keys()];
  }

  /**
   * Accepts the deletion of up to these numbers of objects, by scope. Keeps what was accepted for
   * other scopes.
   */
  accept(accepted: Readonly<Record<string, number>>): void {
    for (const [scope, missing] of Object.entries(accepted)) this.#accepted.set(scope, missing);
  }

  /**
   * Whether a scope must be halted. The halt ends when half of the missing objects are back. New
   * objects do not end it: controllers create them to replace the missing ones.
   */
  mustHalt(scope: string, counts: ScopeCounts): boolean {
    if (this.isAccepted(scope, counts.missing)) return false;
    const known = this.#halted.get(scope);
    return known === undefined ? this.#isImplausible(counts) : counts.missing * 2 > known;
  }

  /**
   * Halts or resumes a scope. Returns whether it is halted. An acceptance ends when most objects
   * exist.
   */
  update(scope: string, counts: ScopeCounts): boolean {
    const isHalted = this.mustHalt(scope, counts);
    if (isHalted) this.#halted.set(scope, Math.max(this.#halted.get(scope) ?? 0, counts.missing));
    else this.#halted.delete(scope);
    if (!this.#isImplausible(counts)) this.#accepted.delete(scope);
    return isHalted;
  }

  /** Whether too many of the expected objects are missing at the same time. */
  #isImplausible({ missing, expected }: ScopeCounts): boolean {
    return expected >= this.#minObjects && missing * 2 > expected;
  }
}
