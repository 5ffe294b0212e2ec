/** Why a command is not done: a value, for whoever asked. Exceptions are for bugs and I/O. */

import type { Attachment } from './event.ts';

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
  | 'RESERVATION_UNKNOWN'
  | 'SEGMENT_SEALED'
  | 'SUBNET_UNKNOWN'
  | 'SUBNET_INVALID'
  | 'SUBNET_FULL'
  | 'SUBNET_IN_USE'
  | 'SUBNET_OVERLAP'
  | 'UNAVAILABLE';

/** `message` is for a person: what is wrong, where, and what to do. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  /** The attachment that could not be served, where it is about one. */
  readonly attachment?: Attachment;
}

/** Thrown inside `decide` to leave it from any depth; `decide` hands it out as a value. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(code: RefusalCode, message: string, attachment?: Attachment) {
    super(message);
    this.refusal = { code, message, ...(attachment && { attachment }) };
  }
}
