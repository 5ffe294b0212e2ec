/** The error of the data path: code DATA_PATH_FAILED, and the part that failed, for metrics. */
import { IpledgerError } from '../../../lib/errors.ts';

/**
 * The part that failed:
 * - database: the Open vSwitch database cannot be used
 * - node: OVN has another name for this node, or the integration bridge is missing
 * - settings: the Subnet, its Vlan or the Pod has settings that make no NIC
 * - veth, port, inside: the command or the transaction of that step failed
 * - installed: OVN did not connect the port in time
 * - gateway: the gateway does not answer
 */
export const failureReasons = [
  'database',
  'node',
  'settings',
  'veth',
  'port',
  'installed',
  'inside',
  'gateway',
] as const;
export type FailureReason = (typeof failureReasons)[number];

export class DataPathError extends IpledgerError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super('DATA_PATH_FAILED', message, options);
    this.reason = reason;
  }
}
