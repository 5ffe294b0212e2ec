/** The command that restores an etcd key to what the log implies. */
import { formatShellCommand } from '../shell-command.ts';

/** Everything else is derived from these keys; only a backup restores them. */
const logKeys = /^\/ipledger\/v1\/(log\/.*|head)$/;
/** Without it the ledger would allocate again, with events missing. */
const freezeKey = '/ipledger/v1/frozen';

/** Whether a command can repair this key. */
export const isRepairable = (key: string): boolean => !logKeys.test(key) && key !== freezeKey;

/** @param finding `expected`: the value that the log implies; '' or undefined if the key must not exist. */
export function formatRepairCommand({
  key,
  expected = '',
}: {
  readonly key: string;
  readonly expected?: string;
}): string {
  if (key === freezeKey)
    return formatShellCommand(
      ['ipledger', 'recover'],
      'while this key exists nothing is allocated: it shows the differences; do not delete the key',
    );
  if (!isRepairable(key))
    return formatShellCommand(
      ['etcdctl', 'get', key],
      'restore the log from a backup; docs/audit.md explains what this finding proves',
    );
  return expected === ''
    ? formatShellCommand(['etcdctl', 'del', key], 'the log does not imply this key; then restart the allocators')
    : formatShellCommand(
        ['etcdctl', 'put', key, expected],
        'the value that the log implies; then restart the allocators',
      );
}
