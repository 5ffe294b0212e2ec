/** Formats shell commands that the CLI proposes to the operator. */

/** A text as one shell argument. */
const quote = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;

/** A command that runs as it is printed, and a comment after it. */
export const formatShellCommand = (words: readonly string[], comment: string): string =>
  `${words.map(quote).join(' ')}  # ${comment}`;

const restartWatcher = ['kubectl', 'rollout', 'restart', '-n', 'ipledger-system', 'deployment/ipledger-pod-watcher'];

/** For a difference that a running pod-watcher fixes within two seconds. @param job what the pod-watcher does about it. */
export const restartWatcherCommand = (job: string): string =>
  formatShellCommand(restartWatcher, `${job}: read its log first`);
