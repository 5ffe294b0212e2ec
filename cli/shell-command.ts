/** Formats shell commands that the CLI proposes to the operator. */

/** A text as one shell argument. */
const quote = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;

/** A command that runs as it is printed, and a comment after it. */
export const formatShellCommand = (words: readonly string[], comment: string): string =>
  `${words.map(quote).join(' ')}  # ${comment}`;

/** The command for a difference that a running program of ipledger fixes within two seconds. @param job what the program does about it. */
const restartCommand = (program: string, namespace: string, job: string): string =>
  formatShellCommand(
    ['kubectl', 'rollout', 'restart', '-n', namespace, `deployment/ipledger-${program}`],
    `${job}: read its log first`,
  );

export const restartWatcherCommand = (namespace: string, job: string): string =>
  restartCommand('pod-watcher', namespace, job);

export const restartProjectorCommand = (namespace: string): string =>
  restartCommand('ovn-projector', namespace, 'it compares all rows at its start');
