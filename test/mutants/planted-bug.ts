/**
 * A mistake that a maintainer could make, in one place, and the specs of its tier that must find
 * it.
 */
export interface PlantedBug {
  /** The wrong behaviour, as a sentence without a full stop. */
  readonly name: string;
  /** Path from the root of the project. */
  readonly file: string;
  /** Text that occurs once in the file, and its replacement. */
  readonly from: string;
  readonly to: string;
  /** Paths of specs, from the root. One of them fails while the mistake is there. */
  readonly specs: readonly string[];
}
