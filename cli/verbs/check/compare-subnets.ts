/** Finds Subnets in force whose latest spec is refused, or that give no new address. */
import { conditionOf } from '../../../lib/kubernetes/object-meta.ts';
import { asText } from '../../../lib/kubernetes/untyped-json.ts';
import { resourceOf } from '../../cluster/cluster-state.ts';
import { formatShellCommand } from '../../shell-command.ts';
import type { CheckInput } from './check-input.ts';
import type { Disagreement } from './disagreement.ts';

/** The reason of the pod-watcher's condition. Others are of Subnets that are being deleted. */
const refused = 'ValidateLogicalSwitchFailed';

export function compareSubnets({ ledger, cluster }: CheckInput): Disagreement[] {
  const inForce = new Set(ledger.subnets.map(({ name }) => name));
  return cluster.subnets.flatMap(({ name, status }): Disagreement[] => {
    const ready = conditionOf(status, 'Ready');
    if (!inForce.has(name) || ready['status'] !== 'False' || ready['reason'] !== refused) return [];
    const what = `its spec is not in force, but an earlier one: ${asText(ready['message'])}`;
    const remedy = formatShellCommand(
      ['kubectl', 'describe', resourceOf('subnets', cluster), name],
      'correct what the condition Ready names: the pod-watcher applies the Subnet again at each change',
    );
    return [{ kind: 'Subnet refused', where: `Subnet ${name}`, what, remedy }];
  });
}
