/** Formats shell commands that the CLI proposes to the operator. */

/** A text as one shell argument. */
export const quote = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;

/** A command that runs as it is printed, and a comment after it. */
export const formatShellCommand = (words: readonly string[], comment: string): string =>
  `${words.map(quote).join(' ')}  # ${comment}`;

/** Restarts a program that did not fix a difference. @param job what the program does about it */
const restartCommand = (program: string, namespace: string, job: string): string =>
  formatShellCommand(
    ['kubectl', 'rollout', 'restart', '-n', namespace, `deployment/ipledger-${program}`],
    `${job}: read its log first`,
  );

export const restartWatcherCommand = (namespace: string, job: string): string =>
  restartCommand('pod-watcher', namespace, job);

export const restartProjectorCommand = (namespace: string): string =>
  restartCommand('ovn-projector', namespace, 'it compares all rows at its start');

/** The keys of the log, from which all others are derived. Only a backup restores them. */
const logKeys = /^\/ipledger\/v1\/(log\/.*|head)$/;
/** The key of the freeze. Without it the ledger would allocate again, with events missing. */
const freezeKey = '/ipledger/v1/frozen';

/** Whether a command can repair this key. */
export const isRepairable = (key: string): boolean => !logKeys.test(key) && key !== freezeKey;

/** @param finding `expected`: the value that the log implies; '' or undefined: no key */
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
    ? formatShellCommand(['etcdctl', 'del', key], 'the log does not imply this key; the allocators find the repair')
    : formatShellCommand(
        ['etcdctl', 'put', key, expected],
        'the value that the log implies; the allocators find the repair',
      );
}
