/** What happens in a cluster of two real nodes, minute by minute. */
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import type { NodeEnvironment } from '../node/node-environment.ts';
import { canPing } from '../node/sandboxes.ts';
import {
  createPod,
  createWorkload,
  sandboxOf,
  scaleWorkload,
  waitForPods,
  type WorkloadPod,
} from '../node/workloads.ts';
import { faultsOfTurn } from './node-faults.ts';

const replicas = { web: 6, db: 4 } as const;
const timeoutMs = 300_000;

export class NodeLife {
  /** Pods that were created so far. */
  created = 0;
  readonly #environment: NodeEnvironment;
  #members: WorkloadPod[] = [];

  constructor(environment: NodeEnvironment) {
    this.#environment = environment;
  }

  async start(): Promise<void> {
    await createWorkload(this.#environment, 'Deployment', 'web', replicas.web);
    this.#members = await createWorkload(this.#environment, 'StatefulSet', 'db', replicas.db);
    this.created += replicas.web + replicas.db;
  }

  /**
   * Replaces the Pods of the Deployment and one member of the StatefulSet, runs a Pod for a moment,
   * and injects the fault of this turn.
   * @returns the name of the fault
   * @throws Error if a Pod does not start, a member has another address, or a Pod is not reached
   */
  async liveOneTurn(turn: number): Promise<string | undefined> {
    const environment = this.#environment;
    const { kubernetes } = environment;
    const before = await waitForPods(environment, 'web', replicas.web);
    const [fault] = faultsOfTurn(turn);
    const job = `job-${turn}`;
    await createPod(environment, job, { node: turn % 2 === 0 ? environment.a : environment.b });
    await kubernetes.patch('Deployment', 'web', {
      spec: { template: { metadata: { annotations: { turn: String(turn) } } } },
    });
    await kubernetes.remove('Pod', `db-${turn % replicas.db}`);
    await fault?.inject(environment, before);
    await this.#waitForNewPods(before);
    await waitForPods(environment, job, 1);
    await kubernetes.remove('Pod', job);
    await waitForPods(environment, job, 0);
    this.created += replicas.web + 2;
    await this.#checkMembers();
    return fault?.name;
  }

  /** Deletes all Pods, and waits for their end. */
  async end(): Promise<void> {
    await scaleWorkload(this.#environment, 'Deployment', 'web', 0);
    await scaleWorkload(this.#environment, 'StatefulSet', 'db', 0);
    await waitForPods(this.#environment, 'web', 0);
    await waitForPods(this.#environment, 'db', 0);
  }

  async #waitForNewPods(before: readonly WorkloadPod[]): Promise<void> {
    const uids = new Set(before.map(({ uid }) => uid));
    await eventually(async () => {
      const now = await waitForPods(this.#environment, 'web', replicas.web);
      expect(
        now.filter(({ uid }) => uids.has(uid)),
        'Pods of the earlier template',
      ).to.deep.equal([]);
    }, timeoutMs);
  }

  /** Checks that the members keep their addresses, and reach each other. */
  async #checkMembers(): Promise<void> {
    const environment = this.#environment;
    const members = await waitForPods(environment, 'db', replicas.db);
    const addresses = (pods: readonly WorkloadPod[]) => pods.map(({ name, address }) => `${name} ${address}`);
    expect(addresses(members)).to.deep.equal(addresses(this.#members));
    const [first, ...others] = members;
    if (!first) throw new Error('no members');
    for (const { name, address } of others)
      await eventually(async () =>
        expect(await canPing(sandboxOf(environment, first), address), `${first.name} reaches ${name}`).to.equal(true),
      );
  }
}
