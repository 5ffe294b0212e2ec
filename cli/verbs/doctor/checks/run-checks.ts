/** All checks of `doctor`. */
import { asCalled } from '../../../called-as.ts';
import type { Facts } from '../../../installation/facts.ts';
import { type Commands, commandsForPods, commandsWithoutPods } from './commands.ts';
import type { Check, Finding } from './finding.ts';
import {
  checkBackup,
  checkDefinitions,
  checkLeases,
  checkMultus,
  checkNetworks,
  checkPermissions,
  checkPlugins,
  checkSubnets,
  checkVersions,
} from './installation-checks.ts';
import {
  checkCheckpoints,
  checkComparison,
  checkObstacle,
  checkQuarantines,
  checkReplicas,
  checkStorage,
  checkVerification,
} from './ledger-checks.ts';
import { checkCertificates, checkMetrics } from './metric-checks.ts';
import { checkPods, checkSandboxes, checkWorkloads } from './pod-checks.ts';

const checks: readonly Check[] = [
  checkObstacle,
  checkReplicas,
  checkPods,
  checkWorkloads,
  checkLeases,
  checkDefinitions,
  checkPermissions,
  checkMultus,
  checkPlugins,
  checkCertificates,
  checkMetrics,
  checkStorage,
  checkQuarantines,
  checkNetworks,
  checkSubnets,
  checkComparison,
  checkSandboxes,
  checkVersions,
  checkVerification,
  checkCheckpoints,
  checkBackup,
];

const order = ['critical', 'warning', 'note'];

/** What the allocators answer, wherever they run. */
const ofLedger: readonly Check[] = [checkObstacle, checkReplicas, checkStorage, checkQuarantines, checkComparison];

/** What the chart installs for programs that run as Pods. */
const ofChart: readonly Check[] = [checkPermissions, checkMultus];

interface Placement {
  readonly finding: Finding;
  readonly checks: readonly Check[];
  readonly commands?: Commands;
}

/** Without Pods and workloads in the namespace, most of the checks have nothing to judge. */
function findPlacement({ namespace, programs, workloads }: Facts): Placement | undefined {
  const isEmpty = workloads?.every((each) => each.namespace !== namespace) === true;
  if (!isEmpty || !programs || programs.some(({ node }) => node !== '')) return undefined;
  const base = { where: `namespace ${namespace}`, document: 'docs/troubleshooting.md#when-something-is-wrong' };
  if (programs.length > 0) {
    const what = 'The programs run outside of the cluster. Their roles, and Multus, are not judged.';
    const remedy = "name all programs by --metrics, and the namespace of the pod-watcher's Lease by --namespace";
    const finding = { ...base, severity: 'note' as const, what, remedy };
    return { finding, checks: checks.filter((each) => !ofChart.includes(each)), commands: commandsWithoutPods };
  }
  const what = 'It has no program of ipledger.';
  const remedy =
    'kubectl get pods -A -l app.kubernetes.io/name=ipledger  # then name it by --namespace; --metrics names programs outside of Pods';
  return { finding: { ...base, severity: 'critical', what, remedy }, checks: ofLedger };
}

/** The most serious first. */
export function runChecks(facts: Facts): Finding[] {
  const { finding, checks: chosen, commands = commandsForPods(facts.namespace) } = findPlacement(facts) ?? { checks };
  const found = [...(finding ? [finding] : []), ...chosen.flatMap((check) => check(facts, commands))];
  const named = found.map((each) => ({ ...each, remedy: asCalled(each.remedy) }));
  return named.toSorted((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity));
}
