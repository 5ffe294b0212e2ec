/** A tenant with Pods and IPAMClaims, at the Kubernetes API, which must not harm other tenants. */
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import {
  makeNetworkAndSubnet,
  makePod,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
  waitForAddress,
} from '../e2e/support/test-environment.ts';
import { printProgress } from '../harness/progress.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';

const isLong = process.env['CHAOS'] === '1';
const factor = isLong ? 10 : 1;
const namespace = 'tenant';
/** The addresses that one Pod may request at once, and the seconds until one more. */
const [burst, secondsPerAddress] = [48, 10];

describe('A tenant with Pods and claims', function () {
  this.timeout(isLong ? 3_600_000 : 300_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.33.0.0/20');
    await scene.stack.cluster.kubectl(['create', 'namespace', namespace]);
  });
  after(() => scene?.run.end());

  const apply = (items: readonly object[]): Promise<unknown> =>
    scene.stack.cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const podOf = (name: string, annotations: Readonly<Record<string, string>>, owners: readonly object[] = []) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, annotations, ownerReferences: owners },
    spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'box', image: 'box' }] },
  });
  const times = <T>(count: number, each: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => each(i));
  const network = { [networksAnnotation]: 'default/lan' };

  /** The times of the allocations of a Pod in the ledger, in milliseconds. */
  async function allocationsOf(pod: string): Promise<number[]> {
    const lines = await scene.stack.etcd.etcdctl(['get', '--prefix', '/ipledger/v1/log/', '--print-value-only']);
    return lines
      .split('\n')
      .filter(
        (line) => line.includes('"AddressAllocated"') && line.includes(`"namespace":"${namespace}","pod":"${pod}"`),
      )
      .map((line) => Date.parse((JSON.parse(line) as { at: string }).at));
  }

  /** Creates and deletes a Pod of another namespace, which gets an address and releases it. */
  async function expectOthersServed(name: string): Promise<void> {
    await makePod(scene, name, 'lan');
    await waitForAddress(scene, name, 'lan');
    await scene.kubernetes.remove('Pod', name);
    await eventually(async () => {
      const lines = await scene.stack.etcd.etcdctl(['get', '--prefix', '/ipledger/v1/log/', '--print-value-only']);
      const released = lines
        .split('\n')
        .filter((line) => line.includes('"type":"AddressReleased"') && line.includes(`"pod":"${name}"`));
      expect(released).to.have.length(1);
    });
  }

  it('A tenant with Pods and claims cannot halt releases by deleting mirrors of static Pods together', async () => {
    const { metadata } = await scene.kubernetes.get('Node', 'node-1');
    const node = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: metadata.uid, controller: true };
    const hash = (index: number): string => index.toString(16).padStart(32, '0');
    const mirrors = times(40 * factor, (index) =>
      podOf(
        `mirror-${index}`,
        { ...network, 'kubernetes.io/config.mirror': hash(index), 'kubernetes.io/config.hash': hash(index) },
        index % 2 === 0 ? [node] : [],
      ),
    );
    await apply(mirrors);
    await eventually(async () => expect(await allocationsOf(`mirror-${mirrors.length - 1}`)).to.have.length(1));
    const { kubectl } = scene.stack.cluster;
    await kubectl(['delete', 'pods', '--all', '-n', namespace, '--force', '--grace-period=0', '--wait=false']);
    await expectOthersServed('beside-mirrors');
  });

  it('A tenant with Pods and claims cannot delay other tenants by claims and requests that are never granted', async () => {
    const claims = times(150 * factor, (index) => ({
      apiVersion: 'k8s.cni.cncf.io/v1alpha1',
      kind: 'IPAMClaim',
      metadata: { name: `claim-${index}`, namespace },
      spec: { network: 'absent', interface: '' },
    }));
    const refused = times(50 * factor, (index) =>
      podOf(`refused-${index}`, { ...network, 'lan.default.kubernetes.io/ip_address': '10.99.0.1' }),
    );
    await apply([...claims, ...refused]);
    await expectOthersServed('beside-claims');
  });

  // services/pod-watcher/controllers/pods/pod-budgets.unit.spec.ts shows the same in milliseconds
  const itLong = isLong ? it : undefined;
  itLong?.('adds a bounded number of events by a Pod that changes its networks again and again', async () => {
    await apply([podOf('toggling', network)]);
    const { kubectl } = scene.stack.cluster;
    const path = ['pod', 'toggling', '-n', namespace, '--type=merge', '-p'];
    await forEachConcurrent(
      times(120 * factor, (index) => index),
      1,
      async (index) => {
        const value = index % 2 === 0 ? null : 'default/lan';
        await kubectl([
          'patch',
          ...path,
          JSON.stringify({ metadata: { annotations: { [networksAnnotation]: value } } }),
        ]);
      },
    );
    await expectOthersServed('beside-toggling');
    const allocated = await allocationsOf('toggling');
    printProgress(`a Pod that changed its networks ${120 * factor} times has ${allocated.length} allocations`);
    // A slow machine takes longer, and the budget grows with the time
    const seconds = ((allocated.at(-1) ?? 0) - (allocated[0] ?? 0)) / 1_000;
    expect(allocated.length).to.be.at.most(burst + Math.ceil(seconds / secondsPerAddress));
  });
});
