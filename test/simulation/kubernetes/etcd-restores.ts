/**
 * An operator who restores a backup of etcd, as docs/operations.md has it: the allocators are
 * stopped, and `ipledger recover` compares the ledger with the cluster. Pods and containers of the
 * time since the backup live on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createKubernetesClient } from '../../../cli/clients/kubernetes-client.ts';
import type { LedgerClient } from '../../../cli/clients/ledger-client.ts';
import { applyRecovery } from '../../../cli/verbs/recover/apply-recovery.ts';
import { compareWithCluster, isEvidence } from '../../../cli/verbs/recover/recover.ts';
import type { RecoveryPlan } from '../../../cli/verbs/recover/recovery-plan.ts';
import { errorMessage } from '../../../lib/errors.ts';
import { restoredRevisions } from '../../../ledger/log/reader/rollback-detection.ts';
import { createLedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { AllocatorCluster } from '../ledger/allocator-cluster.ts';
import { type ClusterUser, nameOf, uidOf } from './cluster-user.ts';
import { type ForeignHosts, probedNetwork } from './foreign-hosts.ts';
import type { NicsInUse } from './nics-in-use.ts';
import type { SimulatedNode } from './node.ts';
import { bindingFiles } from './node-files.ts';
import { identityOf } from './pod-identity.ts';
import { simulatedApi } from './simulated-api.ts';
import type { SimulatedApiServer } from './simulated-api-server.ts';

/** Longer than any message to the earlier etcd is on its way. */
const offMs = 12_000;
const retryMs = 5_000;
/** More than the writes between a backup and its restore. */
const fewRevisions = 1_000_000;
/** The default of `ipledger recover`. */
const agentsMs = 100_000;
/** An interrupted run ends after fewer calls. */
const maxCallsOfInterrupted = 12;
const reason = 'etcd was restored from a backup';
const never = new AbortController().signal;

export interface PlannedRestore {
  /** The age of the backup when it is restored. */
  readonly ageMs: number;
  /** When the operator runs `recover`, after the allocators started. */
  readonly recoverAfterMs: number;
  /**
   * Whether the backup is restored by the documented command, which freezes the ledger. Otherwise
   * only clients that have seen later events freeze it. A probe that finds a conflict before that
   * gives the Pod an address that a container may use, so no foreign host answers in that time.
   */
  readonly isDocumented: boolean;
}

/** What the operator sees of the cluster. */
interface OperatedCluster {
  readonly server: SimulatedApiServer;
  readonly user: ClusterUser;
  readonly nics: NicsInUse;
  readonly nodes: readonly SimulatedNode[];
  readonly foreignHosts: ForeignHosts;
  /** Ends a step of the restore after some time. */
  endFault(afterMs: number, act: () => void): void;
}

export class EtcdRestores {
  readonly #cluster: OperatedCluster;
  readonly #allocators: AllocatorCluster;
  /** Called when etcd has the keys of a backup. */
  onRestored: () => void = () => undefined;
  #isUnderWay = false;
  readonly #random: SeededRandom;

  constructor(cluster: OperatedCluster, allocators: AllocatorCluster) {
    this.#cluster = cluster;
    this.#allocators = allocators;
    this.#random = allocators.world.random('operator of etcd');
  }

  /** Takes a backup now, and restores it later. There is one restore at a time. */
  begin({ ageMs, recoverAfterMs, isDocumented }: PlannedRestore): void {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    const { etcd, network, world, names } = this.#allocators;
    const backup = etcd.backup();
    this.#cluster.endFault(ageMs, () => {
      world.trace('etcd ends');
      for (const name of names) this.#allocators.programOf(name)?.crash();
      const heal = network.cut(world.machine('etcd'));
      this.#cluster.endFault(offMs, () => {
        world.trace('etcd is restored');
        etcd.restore(backup, isDocumented ? restoredRevisions : fewRevisions);
        this.#cluster.foreignHosts.areSilent = !isDocumented;
        this.onRestored();
        heal();
        this.#allocators.startAll();
        this.#cluster.endFault(recoverAfterMs, () => this.#recover());
      });
    });
  }

  #recover(): void {
    const { server } = this.#cluster;
    const { world } = this.#allocators;
    const operator = world.machine('operator').start('operator of etcd', async () => {
      const client = createLedgerClient(this.#allocators.connect(operator), never);
      const allocator = { ...client, [Symbol.dispose]: () => undefined };
      const kubernetes = createKubernetesClient(simulatedApi(operator, server), never);
      // A run that fails has quarantined addresses, and printed why. The next one does not repeat
      // it
      const reports: RecoveryPlan[] = [];
      let until = this.#random.nextBoolean(0.5) ? this.#random.nextInt(maxCallsOfInterrupted) : Infinity;
      for (let isDone = false; !isDone; await sleep(retryMs)) {
        const target = { allocator: interruptedAfter(until, allocator), kubernetes };
        isDone = await this.#runOnce(allocator, target, reports).catch((error: unknown) => {
          world.trace(`recover fails: ${errorMessage(error)}`);
          return false;
        });
        until = Infinity;
      }
      this.#cluster.foreignHosts.areSilent = false;
      this.#isUnderWay = false;
    });
  }

  /** @param target what the recovery changes: its client of the allocator may end the run */
  async #runOnce(
    allocator: LedgerClient,
    target: { readonly allocator: LedgerClient; readonly kubernetes: ReturnType<typeof createKubernetesClient> },
    reports: RecoveryPlan[],
  ): Promise<boolean> {
    const { world } = this.#allocators;
    const bound = this.#cluster.nodes.flatMap((node) =>
      bindingFiles(node).filter((file) => isEvidence(file, node.name)),
    );
    const { status, recovery } = await compareWithCluster(allocator, target.kubernetes, { undetected: true }, bound);
    const { position: comparedPosition = { epoch: 0, seq: 0, hash: '' } } = status;
    const { imports, releases, staleBindings, conflicts } = recovery;
    world.trace(
      `recover: ${imports.length} imports, ${releases.length} releases, ${staleBindings.length} stale bindings, ${JSON.stringify(conflicts)}`,
    );
    reports.push(recovery);
    const freezeFirst = status.freeze === undefined;
    const rejected = await applyRecovery(
      recovery,
      { reason, freezeFirst, comparedPosition, waitForAgents: () => sleep(agentsMs) },
      target,
    );
    world.trace(`recovered, ${JSON.stringify(rejected)} rejected`);
    await this.#decide(reports, allocator);
    return true;
  }

  /** Decides conflicts as their remedies state: Pods are deleted, and then the quarantines end. */
  async #decide(reports: readonly RecoveryPlan[], allocator: LedgerClient): Promise<void> {
    const { user, nics, foreignHosts } = this.#cluster;
    const quarantines = reports.flatMap((report) => report.quarantines);
    const attachments = reports
      .flatMap(({ conflicts }) => conflicts)
      .flatMap(({ leavesOut }) => leavesOut?.attachments ?? []);
    const names = new Set(attachments.map(({ holder }) => holder.name));
    const deleted = user.pods().filter((pod) => names.has(identityOf(pod).name));
    for (const pod of deleted) user.deletePod(nameOf(pod));
    const uids = deleted.map(uidOf);
    while (user.pods().some((pod) => uids.includes(uidOf(pod)))) await sleep(retryMs);
    for (const { subnet, address } of quarantines) {
      const isUsedByEnded = (): boolean =>
        nics.all.some((nic) => nic.addresses.includes(address) && !nics.isOfLivingPod(nic));
      while (isUsedByEnded()) await sleep(retryMs);
      await allocator.call(IpamService.unquarantine, { subnet, address, reason: 'no ended container uses it' });
    }
    // The backup may be older than the commands that ended a quarantine: they are repeated
    for (const address of foreignHosts.left)
      await allocator.call(IpamService.unquarantine, { subnet: probedNetwork, address, reason: 'the host has left' });
  }
}

/** A client that ends the run of the operator after some calls. */
function interruptedAfter(calls: number, allocator: LedgerClient): LedgerClient {
  let remaining = calls;
  const call: LedgerClient['call'] = (...request) => {
    if (remaining-- <= 0) throw new Error('the operator has ended the run');
    return allocator.call(...request);
  };
  return { ...allocator, call };
}
