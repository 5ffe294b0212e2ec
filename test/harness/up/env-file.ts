/** `.cache/up/env`: what another terminal sources to use what `make up` runs. */
import { quote } from '../run.ts';

export interface Exports {
  readonly kubeconfig: string;
  /** ETCDCTL_ENDPOINTS, and what etcdctl shows. */
  readonly etcd: Readonly<Record<string, string>>;
  readonly allocator: string;
  readonly index: string;
  /** IPLEDGER_TLS_CA, _CERT and _KEY. */
  readonly tls: Readonly<Record<string, string>>;
  /** The agents' sockets, first node first. */
  readonly sockets: readonly string[];
  readonly cniPath: string;
  readonly netConfPath: string;
  /** Goes before what PATH has. */
  readonly programs: string;
}

/** The file's text; sh and bash read it. */
export function envFile(exports: Exports): string {
  const variables: Record<string, string> = {
    KUBECONFIG: exports.kubeconfig,
    ...exports.etcd,
    IPLEDGER_ENDPOINT: exports.allocator,
    IPLEDGER_INDEX: exports.index,
    ...exports.tls,
    IPLEDGER_SOCKET: exports.sockets[0] ?? '',
    ...Object.fromEntries(exports.sockets.map((socket, index) => [`IPLEDGER_SOCKET_${index + 1}`, socket])),
    CNI_PATH: exports.cniPath,
    NETCONFPATH: exports.netConfPath,
  };
  // Empty is not there: etcdctl warns of each variable that says nothing.
  const lines = Object.entries(variables).map(([name, value]) =>
    value === '' ? `unset ${name}` : `export ${name}=${quote(value)}`,
  );
  return [...lines, `export PATH=${quote(exports.programs)}:"$PATH"`, ''].join('\n');
}
