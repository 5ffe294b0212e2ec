/** Tests `ipledger check` on a real cluster, with and without disagreements. */
import { expect } from 'chai';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import {
  waitForAddress,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

/** The permissions that the verb needs. */
const reader = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: reader }
rules:
  - { apiGroups: [''], resources: [pods, nodes], verbs: [list] }
  - { apiGroups: [apps], resources: [statefulsets], verbs: [list] }
  - { apiGroups: [kubeovn.io], resources: [ips, ippools, subnets, vips], verbs: [list] }
  - { apiGroups: [k8s.cni.cncf.io], resources: [network-attachment-definitions], verbs: [list] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: reader }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader }
subjects: [{ kind: User, name: reader }]
`;

describe('ipledger check', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let kubeconfig: string;
  before(async () => {
    scene = await openTestEnvironment();
    const { cluster } = scene.stack;
    await Promise.all([cluster.apply(reader), makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24')]);
    kubeconfig = await cluster.kubeconfigFor('reader');
    for (const pod of ['stays', 'goes', 'ends']) await makePod(scene, pod, 'lan');
    for (const pod of ['stays', 'goes', 'ends']) await waitForAddress(scene, pod, 'lan');
    await expectConsistency(scene.stack);
  });
  after(() => scene?.run.end());

  function check(...args: string[]): Promise<CommandResult> {
    return runIpledger(['check', ...args], { allocator: scene.stack.allocator, kubeconfig });
  }

  it('ipledger check reports no disagreement, with read-only permissions', async () => {
    const { code, stdout, stderr } = await check('--keys');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^3 Pods, 3 allocations, 3 IP objects compared at seq \d+: no disagreement\n$/);
  });

  it('ipledger check reports changes while the pod-watcher is stopped, and none after the pod-watcher has reconciled them', async () => {
    const { kubernetes, stack } = scene;
    expect((await callKubeOvnPlugin(scene, { pod: 'goes', network: 'lan' })).code).to.equal(0);
    const [stays, goes] = [await waitForAddress(scene, 'stays', 'lan'), await waitForAddress(scene, 'goes', 'lan')];
    await stack.watcher.kill();
    const annotations = { 'lan.default.kubernetes.io/ip_address': '10.8.0.77', 'lan.default.kubernetes.io/cidr': null };
    await kubernetes.patch('Pod', 'stays', { metadata: { annotations } });
    await kubernetes.remove('Pod', 'goes');
    await kubernetes.patch('Pod', 'ends', { status: { phase: 'Succeeded' } }, 'status');
    await makePod(scene, 'comes', 'lan');
    await kubernetes.remove('IP', 'stays.default.lan.default');
    await kubernetes.create({ kind: 'IP', metadata: { name: 'stray' }, spec: { subnet: 'lan', ipAddress: goes } });
    await kubernetes.patch('Subnet', 'lan', { status: { v4usingIPs: 9 } }, 'status');

    const { code, stdout } = await check();
    expect(code).to.equal(1);
    const lines = stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '));
    const expectLine = (start: string): void => {
      const found = lines.filter((line) => line.startsWith(start));
      expect(found, `${start}… in\n${stdout}`).to.have.length(1);
    };
    expectLine('annotation | Pod default/stays | annotation lan.default.kubernetes.io/ip_address is "10.8.0.77"; ');
    expectLine('annotation | Pod default/stays | annotation lan.default.kubernetes.io/cidr is missing; ');
    expectLine(`Pod ended | Pod default/goes | holds ${goes} of subnet lan (`);
    expectLine('Pod ended | Pod default/ends | holds ');
    expectLine(
      'no address | Pod default/comes | requests an address of lan.default, and has none | ipledger why default/comes',
    );
    expectLine(`IP object missing | IP stays.default.lan.default | there is none for ${stays} of subnet lan (`);
    expectLine(`IP object without allocation | IP stray | it has ${goes} of subnet lan`);
    expectLine(`address in two IP objects | ${goes} of subnet lan | `);
    expectLine('Subnet status | Subnet lan | status.v4usingIPs is 9; the ledger has 3');
    expect(lines.at(-2)).to.match(/^3 Pods, 3 allocations, 3 IP objects compared at seq \d+: 9 disagreements$/);

    await stack.watcher.start();
    await kubernetes.remove('IP', 'stray');
    await eventually(async () => {
      // Expects a held address: before its CNI DEL the container may still answer.
      const { code, stderr } = await check();
      expect({
        code,
        stderr: stderr.replace(/container \S+/, 'container …').replace(/, bound since .*/, ''),
      }).to.deep.equal({
        code: 0,
        stderr: `${goes} of subnet lan is held: container … of Pod default/goes on node node-1 may still answer on it\n`,
      });
    });
    expect((await callKubeOvnPlugin(scene, { pod: 'goes', network: 'lan', command: 'DEL' })).code).to.equal(0);
    await expectConsistency(stack);
    await eventually(async () => expect((await check()).code).to.equal(0));
  });

  it('ipledger check names both allocations of an address after a claim was forged in etcd', async () => {
    const { kubernetes, stack } = scene;
    const spec = { provider: 'ovn', cidrBlock: '10.8.0.0/24' };
    await kubernetes.create({ kind: 'Subnet', metadata: { name: 'overlay' }, spec });
    const address = await waitForAddress(scene, 'stays', 'lan');
    const [own, forged] = ['lan', 'overlay'].map((subnet) => `/ipledger/v1/addr/${subnet}/${address}`) as [
      string,
      string,
    ];
    const text = (await stack.etcd.etcdctl(['get', '--print-value-only', own])).trimEnd();
    const claim = text.replaceAll('"pod":"stays"', '"pod":"forged"').replace(/"alloc":\d+/, '"alloc":9999');
    await stack.etcd.etcdctl(['put', forged, claim]);
    const addressOnNetwork = `${address} on network lan.default`;

    const byKeys = await check('--keys');
    expect(byKeys.code).to.equal(1);
    expect(byKeys.stdout).to.contain(
      `${addressOnNetwork} is held twice, by Pod default/forged and, from subnet lan, by Pod default/stays`,
    );

    // Restarts the allocator, which reads the keys at its start.
    await stack.allocator.kill();
    await stack.allocator.start();
    await eventually(async () => {
      const { stdout } = await check();
      expect(stdout.replaceAll(/ {2,}/g, ' | ')).to.match(
        new RegExp(
          `^allocated twice \\| ${addressOnNetwork} \\| Pod default/stays \\(subnet lan, event \\d+\\) and Pod default/forged \\(subnet overlay, event 9999\\) both hold it`,
          'm',
        ),
      );
    });

    await stack.etcd.etcdctl(['del', forged]);
    await stack.allocator.kill();
    await stack.allocator.start();
    await eventually(async () => expect((await check()).code).to.equal(0));
  });

  it('ipledger check exits with 2 while the Kubernetes API or the allocator is unavailable', async () => {
    const { allocator, cluster } = scene.stack;
    for (const [server, message] of [
      [cluster.apiServer, /the comparison failed: cannot read \S+ of the Kubernetes API at https:\/\/127.0.0.1:\d+ \(/],
      [allocator, /the comparison failed: cannot reach the allocator at 127.0.0.1:\d+ \(/],
    ] as const) {
      await server.kill();
      const { code, stdout, stderr } = await check();
      await server.start();
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(message);
    }
  });
});
