/** Logs at the start what an operator should repair. The allocator starts nevertheless. */
import { isLoopback } from '../../../lib/grpc/server/insecure.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Tls } from '../../../lib/tls/credentials.ts';
import { findDoubleAllocations } from '../../../ledger/domain/state/claims-on-network.ts';
import type { State } from '../../../ledger/domain/state/state.ts';

export function logStartupWarnings(
  state: State,
  { listen, tls }: { readonly listen: string; readonly tls: Tls },
  log: Logger,
): void {
  for (const name of state.fenced)
    log.error(
      { address: name },
      'this address is fenced: another program changed its key in etcd. Run ipledger check --keys',
    );
  for (const { network, address, holders } of findDoubleAllocations(state))
    log.error(
      {
        network,
        address,
        holders: holders.map(({ seq, subnet, attachment, uid }) => ({ seq, subnet, attachment, uid })),
      },
      'two Pods hold this address on one network. Delete one of them; ipledger check names both',
    );
  if (!tls && !isLoopback(listen))
    log.warn(
      { listen },
      'the API is served in plaintext beyond loopback: every client that reaches this port may do everything. Set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY',
    );
}
