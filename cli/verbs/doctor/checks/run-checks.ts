/** All checks of `doctor`. */
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
  checkWorkloads,
} from './installation-checks.ts';
import {
  checkCheckpoints,
  checkComparison,
  checkObstacle,
  checkReplicas,
  checkStorage,
  checkVerification,
} from './ledger-checks.ts';
import { checkCertificates, checkMetrics } from './metric-checks.ts';

const checks: readonly Check[] = [
  checkObstacle,
  checkReplicas,
  checkWorkloads,
  checkLeases,
  checkDefinitions,
  checkPermissions,
  checkMultus,
  checkPlugins,
  checkCertificates,
  checkMetrics,
  checkStorage,
  checkNetworks,
  checkSubnets,
  checkComparison,
  checkVersions,
  checkVerification,
  checkCheckpoints,
  checkBackup,
];

const order = ['critical', 'warning', 'note'];

/** The most serious first. The commands name the namespace of the installation. */
export function runChecks(facts: Facts): Finding[] {
  const found = checks.flatMap((check) => check(facts));
  const named = found.map((each) => ({ ...each, remedy: each.remedy.replaceAll('ipledger-system', facts.namespace) }));
  return named.toSorted((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity));
}
