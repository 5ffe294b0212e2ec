/** The environment variables and exit statuses of `ipledger`, for --help and for the man page. */
import { exitStatus } from '../cli-error.ts';

/** Variables with their meaning. */
export const environmentVariables: readonly (readonly [variable: string, meaning: string])[] = [
  [
    'IPLEDGER_ENDPOINT',
    'address of the allocator, HOST:PORT, or of several replicas, separated by commas (127.0.0.1:7411); kubernetes: those of the cluster',
  ],
  ['IPLEDGER_TLS_CA, _CERT and _KEY', 'files for TLS; without them, plaintext'],
  ['IPLEDGER_TOKEN_FILE', 'file with a ServiceAccount token that identifies the caller; it needs IPLEDGER_TLS_CA'],
  ['IPLEDGER_READ_MODEL', 'address of the read model, for history and why; without it, the allocator answers'],
  ['IPLEDGER_ETCD', 'endpoints of etcd, for verbs that need no allocator: http(s)://HOST:PORT, separated by commas'],
  ['KUBECONFIG', 'the cluster that check and why read, and that import, recover and uninstall change'],
];

/** Exit statuses with their meaning. */
export const exitStatuses: readonly (readonly [status: number, meaning: string])[] = [
  [0, 'done'],
  [exitStatus.refused, 'rejected, or unknown to the ledger'],
  [exitStatus.usage, 'invalid usage'],
  [exitStatus.unreachable, 'no allocator answered'],
  [exitStatus.empty, 'the answer is empty: no Pod had the address, no event matches, nothing changed'],
  [exitStatus.interrupted, 'ended by Ctrl-C'],
];

/** The text that --help prints after the verbs. */
export const formatHelp = (): string =>
  [
    '',
    'Environment:',
    ...environmentVariables.map(([variable, meaning]) => `  ${variable.padEnd(33)}  ${meaning}`),
    '',
    'Exit status (doctor, check and verify have their own):',
    ...exitStatuses.map(([status, meaning]) => `  ${status}  ${meaning}`),
  ].join('\n');
