/** Reads the conditions in the status of an object. */
import { asRecord, asRecords, type UntypedJson } from './untyped-json.ts';

/** Returns the condition of a type; {} without it. */
export const conditionOf = (status: UntypedJson, type: string): UntypedJson =>
  asRecords(status['conditions']).find((condition) => condition['type'] === type) ?? {};

/** Whether an object has the condition Ready with the status True. */
export const isReady = (object: UntypedJson): boolean =>
  conditionOf(asRecord(object['status']), 'Ready')['status'] === 'True';
