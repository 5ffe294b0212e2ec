/** `.cache/up/env`: variables for another terminal that uses the servers of `make up`. */
import { quoteForShell } from '../../test/harness/run.ts';

export interface EnvFileContents {
  readonly kubeconfig: string;
  /** ETCDCTL_ENDPOINTS, and the certificate for etcd, of etcdctl and of `ipledger --etcd`. */
  readonly etcd: Readonly<Record<string, string>>;
  readonly allocator: string;
  readonly readModel: string;
  /** "host:port" of /metrics of each program. */
  readonly metrics: readonly string[];
  /** IPLEDGER_TLS_CA, _CERT and _KEY. */
  readonly tls: Readonly<Record<string, string>>;
  /** The sockets of the agents, in the order of the nodes. */
  readonly sockets: readonly string[];
  readonly cniPath: string;
  readonly netConfPath: string;
  /** Folder to prepend to PATH. */
  readonly programs: string;
}

/** The default of the pod-watcher. */
const leaseNamespace = 'kube-system';

/** Formats the file for sh and bash. */
export function formatEnvFile(exports: EnvFileContents): string {
  const variables: Record<string, string> = {
    KUBECONFIG: exports.kubeconfig,
    ...exports.etcd,
    IPLEDGER_ENDPOINT: exports.allocator,
    IPLEDGER_READ_MODEL: exports.readModel,
    IPLEDGER_METRICS: exports.metrics.join(','),
    IPLEDGER_NAMESPACE: leaseNamespace,
    ...exports.tls,
    IPLEDGER_SOCKET: exports.sockets[0] ?? '',
    ...Object.fromEntries(exports.sockets.map((socket, index) => [`IPLEDGER_SOCKET_${index + 1}`, socket])),
    CNI_PATH: exports.cniPath,
    NETCONFPATH: exports.netConfPath,
  };
  // Unset, not empty: etcdctl warns about each empty variable.
  const lines = Object.entries(variables).map(([name, value]) =>
    value === '' ? `unset ${name}` : `export ${name}=${quoteForShell(value)}`,
  );
  return [...lines, `export PATH=${quoteForShell(exports.programs)}:"$PATH"`, ''].join('\n');
}
