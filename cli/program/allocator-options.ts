/** The options that name the allocator, the cluster and the caller. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ClusterSelection } from '../../lib/kubernetes/client/cluster-access.ts';
import type { LedgerTarget } from '../clients/ledger-client.ts';

export interface AllocatorOptions extends ClusterSelection {
  readonly allocator: string;
  readonly tokenFile?: string;
  readonly serviceAccount?: string;
}

/** Adds `--allocator`, `--token-file`, `--service-account`, `--kubeconfig` and `--context`. */
export const addAllocatorOptions = (verb: Command, condition = ''): Command =>
  verb
    .addOption(
      new Option(
        '--allocator <host:port>',
        `${condition}address of the allocator, or of several replicas, separated by commas; kubernetes[/NAMESPACE]: the allocators of the cluster, by port-forward`,
      )
        .env('IPLEDGER_ENDPOINT')
        .default('127.0.0.1:7411'),
    )
    .addOption(
      new Option('--token-file <file>', 'file with a ServiceAccount token that identifies the caller').env(
        'IPLEDGER_TOKEN_FILE',
      ),
    )
    .addOption(
      new Option(
        '--service-account <[namespace/]name>',
        'with kubernetes: identify as this ServiceAccount, by a token that your Kubernetes user requests; for a kubeconfig with a client certificate',
      )
        .env('IPLEDGER_SERVICE_ACCOUNT')
        .conflicts('tokenFile'),
    )
    .option('--kubeconfig <file>', 'kubeconfig instead of KUBECONFIG')
    .option('--context <name>', 'context of the kubeconfig')
    .addOption(new Option('--as <user>', 'is rejected').hideHelp().argParser(refuseImpersonation));

/** Rejects an option of kubectl for impersonation. commander prints the error. */
function refuseImpersonation(): never {
  throw new InvalidArgumentError(
    'An allocator cannot verify impersonation. Use a token of that user: --token-file, or another --context.',
  );
}

export const targetOf = ({
  allocator,
  tokenFile,
  serviceAccount,
  kubeconfig,
  context,
}: AllocatorOptions): LedgerTarget => ({
  endpoint: allocator,
  tokenFile,
  serviceAccount,
  kubeconfig,
  context,
});

/** The endpoint of each replica that `--allocator` names. */
export function endpointsOf(options: AllocatorOptions): LedgerTarget[] {
  const names = options.allocator.split(',').flatMap((name) => name.trim() || []);
  return names.map((endpoint) => ({ ...targetOf(options), endpoint }));
}
