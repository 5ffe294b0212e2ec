/** The target of an attacker: addresses, and the files of the identities that it may use. */

export interface Target {
  /** "host:port" of the allocator's API. */
  readonly endpoint: string;
  /** "host:port" of its health and metrics. */
  readonly health: string;
  /** Folder of the certificates of all programs. */
  readonly certificates: string;
  /** Folder of a certificate authority that the allocator does not trust. */
  readonly foreignCertificates: string;
  /** Folder of the archive. */
  readonly archive: string;
  /** A Subnet with free addresses, of provider "<subnet>.default". */
  readonly subnet: string;
}

/** The variable in which an attacker gets its target, as JSON. */
export const targetVariable = 'IPLEDGER_TEST_TARGET';

/**
 * Attacks until the signal is aborted. Calls `count` with the outcome of each call: "OK" or an
 * error code.
 */
export type Attack = (target: Target, signal: AbortSignal, count: (outcome: string) => void) => Promise<void>;
