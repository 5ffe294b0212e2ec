/** Refusals: why a command is rejected, as a value for the caller. Exceptions are for bugs and I/O. */

import type { Attachment } from '../events/event.ts';

export type RefusalCode =
  | 'INVALID_REQUEST'
  | 'DEADLINE_PASSED'
  | 'ADDRESS_OUT_OF_RANGE'
  | 'ADDRESS_IN_USE'
  | 'ADDRESS_ANSWERING'
  | 'ADDRESS_FENCED'
  | 'ADDRESS_UNKNOWN'
  | 'IP_FAMILY_INVALID'
  | 'MAC_IN_USE'
  | 'NAMESPACE_NOT_ALLOWED'
  | 'NAMESPACE_QUOTA_EXCEEDED'
  | 'NOT_ALLOCATED'
  | 'PERMISSION_DENIED'
  | 'POD_SUPERSEDED'
  | 'POOL_CONFLICT'
  | 'POOL_INVALID'
  | 'POOL_UNKNOWN'
  | 'PROVIDER_UNBOUND'
  | 'REQUEST_OUTDATED'
  | 'RESERVATION_UNKNOWN'
  | 'SEGMENT_SEALED'
  | 'SUBNET_UNKNOWN'
  | 'SUBNET_INVALID'
  | 'SUBNET_FULL'
  | 'SUBNET_IN_USE'
  | 'SUBNET_OVERLAP'
  | 'UNAVAILABLE';

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
