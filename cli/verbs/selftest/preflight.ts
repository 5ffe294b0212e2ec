/** What a selftest reviews before it makes anything. */
import { LedgerService } from '../../../proto/generated/ipledger.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { describeObstacle } from '../../output/format.ts';
import { findMissingRights } from './required-rights.ts';
import { networksPath, type TestPlan } from './test-objects.ts';

export interface PreflightSources {
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly kubernetes: Pick<KubernetesClient, 'get' | 'create'>;
}

/** Why the test cannot pass; "" if it may. @throws CliError, IpledgerError when a part is down */
export async function findObstacle(plan: TestPlan, { allocator, kubernetes }: PreflightSources): Promise<string> {
  const missing = await findMissingRights(plan, kubernetes);
  if (missing.length > 0)
    return `your Kubernetes user may not: ${missing.join(', ')}. docs/troubleshooting.md#do-pods-get-addresses names the rights`;
  for (const node of plan.nodes)
    if (!(await kubernetes.get(`/api/v1/nodes/${encodeURIComponent(node)}`)))
      return `there is no node ${node}: kubectl get nodes lists them`;
  if (typeof plan.network === 'string') {
    const [namespace = '', name = ''] = plan.network.split('/');
    if (!(await kubernetes.get(`${networksPath(namespace)}/${name}`)))
      return `there is no NetworkAttachmentDefinition ${plan.network}: kubectl get network-attachment-definitions -A lists them`;
  }
  const { freeze, cannotWrite } = await allocator.call(LedgerService.getStatus, {});
  if (freeze) return 'nothing can be allocated, because the ledger is frozen. Run: ipledger recover';
  if (!cannotWrite) return '';
  return `nothing can be allocated ${describeObstacle(cannotWrite, (instant) => instant)}. Run: ipledger doctor`;
}
