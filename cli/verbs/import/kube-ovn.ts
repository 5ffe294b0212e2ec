/** `ipledger import kube-ovn`: imports the addresses that Kube-OVN's controller allocated, so that each Pod keeps its address. */
import type { Command } from 'commander';
import { kubeOvnLeasePath, kubeOvnRunningMessage } from '../../../lib/kubernetes/kube-ovn.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { assertControllerStopped } from '../../cluster/controller-check.ts';
import { findConflicts } from '../../kube-ovn-import/conflicts.ts';
import { planImport } from '../../kube-ovn-import/import-plan.ts';
import { connectKubernetes } from '../../clients/kubernetes-client.ts';
import type { Answer } from '../../output/answer.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../../program/verb.ts';
import { addApplyOption, runImport } from './run-import.ts';

interface ImportOptions extends VerbOptions {
  readonly apply: boolean;
}

export function defineKubeOvn(verb: Command): void {
  const source = verb
    .command('kube-ovn')
    .description('import Subnets, IPPools, IPs, Vips and the Pods that have addresses');
  addApplyOption(
    addVerbOptions(source),
    `Reads the cluster that KUBECONFIG names. Stop kube-ovn-controller; then import; then start the pod-watcher. The verb lists all
conflicts. One of Subnets stops the import. One of Pods leaves them out, and quarantines addresses that nothing decides: resolve it,
run ipledger unquarantine, and import again. After an interrupted run, run it again.`,
  ).action((options: ImportOptions) =>
    runAndPrint(options, (allocator, signal) => importKubeOvn(allocator, options, signal)),
  );
}

async function importKubeOvn(allocator: LedgerClient, options: ImportOptions, signal: AbortSignal): Promise<Answer> {
  const kubernetes = await connectKubernetes(signal, options);
  await assertControllerStopped(
    kubernetes,
    { lease: kubeOvnLeasePath, describeHolder: (holder) => kubeOvnRunningMessage(holder, 'import') },
    signal,
  );
  return runImport({ allocator, kubernetes, apply: options.apply }, (snapshot, ledger) => {
    const plan = planImport(snapshot);
    return { plan, conflicts: findConflicts(plan, snapshot, ledger) };
  });
}
