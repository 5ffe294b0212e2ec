/** All checks of `doctor`. */
import { asCalled } from '../../../called-as.ts';
import type { Facts } from '../../../installation/facts.ts';
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

/**
 * Nothing is installed in the namespace, or it is another one: its other findings have this cause.
 */
function findAbsence({ namespace, programs, workloads }: Facts): Finding | undefined {
  const isAbsent = programs?.length === 0 && workloads?.every((each) => each.namespace !== namespace);
  if (isAbsent !== true) return undefined;
  return {
    severity: 'critical',
    where: `namespace ${namespace}`,
    what: 'It has no program of ipledger.',
    remedy:
      'kubectl get pods -A -l app.kubernetes.io/name=ipledger  # then name it by --namespace; --metrics names programs outside of Pods',
    document: 'docs/troubleshooting.md#at-3-am',
  };
}

/** The most serious first. The commands name the namespace of the installation. */
export function runChecks(facts: Facts): Finding[] {
  const absence = findAbsence(facts);
  const found = [...(absence ? [absence] : []), ...(absence ? ofLedger : checks).flatMap((check) => check(facts))];
  const named = found.map((each) => ({
    ...each,
    remedy: asCalled(each.remedy.replaceAll('ipledger-system', facts.namespace)),
  }));
  return named.toSorted((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity));
}
