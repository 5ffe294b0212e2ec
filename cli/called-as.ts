/**
 * The form in which the program was called. Texts of the programs name its commands as
 * `ipledger VERB`; the command line prints them as the operator can run them.
 */
import { env } from 'node:process';

/** What `kubectl-ipledger` sets as IPLEDGER_CALLED_AS: `ipledger` may not be on PATH then. */
export const pluginName = 'kubectl ipledger';

const verbs =
  'accept-mass-deletion allocations check checkpoint checkpoint-key completion diff doctor export history import install-crds ' +
  'quarantine recover release replace-etcd-member replay reserve selftest state status subnets sysdump unbind uninstall ' +
  'unquarantine unreserve verify watch who-had why with-etcd';

/** The command of `with-etcd` finds `ipledger` on its PATH. */
const command = new RegExp(
  `(?<![\\w./-])(?<!kubectl |-n |with-etcd )ipledger (?=(?:${verbs.replaceAll(' ', '|')})(?![\\w-])|\\[options\\])`,
  'g',
);

/** A text for people, with its commands in the form in which this program was called. */
export const asCalled = (text: string, { IPLEDGER_CALLED_AS: name }: NodeJS.ProcessEnv = env): string =>
  name === pluginName ? text.replaceAll(command, `${pluginName} `) : text;
