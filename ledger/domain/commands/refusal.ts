/** Refusals: why a command is rejected, as a value. Exceptions are for bugs and I/O. */

import type { Attachment } from '../values/allocation.ts';

interface Meaning {
  /**
   * What CNI ADD does after an Allocate was refused for this reason. `final`: ADD fails at once,
   * because the refusal lasts until a person edits the Pod, an object or the ledger. `passing`: ADD
   * waits. `none`: an Allocate is never refused for this reason.
   */
  readonly allocate: 'final' | 'passing' | 'none';
  /** Whether the message names Pods, containers or nodes that an agent must not learn about. */
  readonly namesOthers: boolean;
}

const meanings = {
  INVALID_REQUEST: { allocate: 'final', namesOthers: false },
  DEADLINE_PASSED: { allocate: 'passing', namesOthers: true },
  ADDRESS_OUT_OF_RANGE: { allocate: 'final', namesOthers: false },
  ADDRESS_IN_USE: { allocate: 'passing', namesOthers: true },
  ADDRESS_QUARANTINED: { allocate: 'final', namesOthers: true },
  ADDRESS_RESERVED: { allocate: 'final', namesOthers: true },
  ADDRESS_ANSWERING: { allocate: 'none', namesOthers: true },
  ADDRESS_FENCED: { allocate: 'final', namesOthers: false },
  ADDRESS_UNKNOWN: { allocate: 'none', namesOthers: true },
  IP_FAMILY_INVALID: { allocate: 'final', namesOthers: false },
  MAC_IN_USE: { allocate: 'passing', namesOthers: true },
  MAC_RESERVED: { allocate: 'final', namesOthers: true },
  NAMESPACE_NOT_ALLOWED: { allocate: 'final', namesOthers: false },
  NAMESPACE_QUOTA_EXCEEDED: { allocate: 'passing', namesOthers: false },
  NOT_ALLOCATED: { allocate: 'none', namesOthers: true },
  PERMISSION_DENIED: { allocate: 'none', namesOthers: true },
  POD_SUPERSEDED: { allocate: 'final', namesOthers: true },
  POOL_CONFLICT: { allocate: 'none', namesOthers: true },
  POOL_INVALID: { allocate: 'none', namesOthers: true },
  // The user may create the Subnet, IPPool or reservation at the same time as the Pod.
  POOL_UNKNOWN: { allocate: 'passing', namesOthers: false },
  QUARANTINE_LIMIT: { allocate: 'none', namesOthers: false },
  PROVIDER_UNBOUND: { allocate: 'none', namesOthers: false },
  REQUEST_OUTDATED: { allocate: 'passing', namesOthers: true },
  RESERVATION_UNKNOWN: { allocate: 'passing', namesOthers: false },
  SEGMENT_SEALED: { allocate: 'none', namesOthers: true },
  SUBNET_UNKNOWN: { allocate: 'passing', namesOthers: false },
  SUBNET_INVALID: { allocate: 'none', namesOthers: true },
  SUBNET_FULL: { allocate: 'passing', namesOthers: false },
  SUBNET_IN_USE: { allocate: 'none', namesOthers: true },
  SUBNET_OVERLAP: { allocate: 'none', namesOthers: true },
  UNAVAILABLE: { allocate: 'none', namesOthers: true },
} as const satisfies Record<string, Meaning>;

export type RefusalCode = keyof typeof meanings;

/** The log of a newer version may hold an unknown reason. It counts as passing. */
export const meaningOf = (reason: string): Meaning =>
  Object.hasOwn(meanings, reason) ? meanings[reason as RefusalCode] : { allocate: 'passing', namesOthers: true };

/** `message` is for people: what failed, why, and what to do. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  /** The attachment that could not be served, if the refusal is about one. */
  readonly attachment?: Attachment;
}

/** Thrown inside `decide`, which returns it as a value. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(code: RefusalCode, message: string, attachment?: Attachment) {
    super(message);
    this.refusal = { code, message, ...(attachment && { attachment }) };
  }
}
