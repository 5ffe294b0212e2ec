/** `ipledger check` against a real cluster: quiet while all agree, and one line for each thing that does not. */
import { join } from 'node:path';
import { expect } from 'chai';
import { type CommandResult, runCommand } from '../harness/command.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { plugin } from './plugin.ts';
import { addressOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

/** All that it may do in the cluster. */
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
  this.timeout(120_000);
  let scene: Scene;
  let kubeconfig: string;
  before(async () => {
    scene = await openScene();
    const { cluster } = scene.stack;
    await Promise.all([cluster.apply(reader), makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24')]);
    kubeconfig = await cluster.kubeconfigFor('reader');
    for (const pod of ['stays', 'goes', 'ends']) await makePod(scene, pod, 'lan');
    for (const pod of ['stays', 'goes', 'ends']) await addressOf(scene, pod, 'lan');
    await expectAgreement(scene.stack);
  });
  after(() => scene?.run.end());

  function check(...args: string[]): Promise<CommandResult> {
    const { allocator } = scene.stack;
    const env = childEnvironment({ IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: kubeconfig });
    return runCommand(join(root, 'cli', 'ipledger'), ['check', ...args], { env });
  }

  it('finds nothing, as somebody who may only read', async () => {
    const { code, stdout, stderr } = await check('--claims');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^3 Pods, 3 allocations, 3 IP objects compared at seq \d+: no disagreement\n$/);
  });

  it('tells what the pod-watcher leaves undone while it is away, and nothing once it is back', async () => {
    const { kubernetes, stack } = scene;
    expect((await plugin(scene, { pod: 'goes', network: 'lan' })).code).to.equal(0);
    const [stays, goes] = [await addressOf(scene, 'stays', 'lan'), await addressOf(scene, 'goes', 'lan')];
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
    const told = (start: string): void => {
      const found = lines.filter((line) => line.startsWith(start));
      expect(found, `${start}… in\n${stdout}`).to.have.length(1);
    };
    told('annotation | Pod default/stays | annotation lan.default.kubernetes.io/ip_address says "10.8.0.77"; ');
    told('annotation | Pod default/stays | annotation lan.default.kubernetes.io/cidr is not there; ');
    told(`holder gone | Pod default/goes | holds ${goes} of subnet lan (`);
    told('holder gone | Pod default/ends | holds ');
    told(
      'no address | Pod default/comes | wants an address of lan.default, and holds none | ipledger why default/comes',
    );
    told(`IP object missing | IP stays.default.lan.default | there is none for ${stays} of subnet lan (`);
    told(`IP object superfluous | IP stray | it shows ${goes} of subnet lan`);
    told(`address in two IP objects | ${goes} of subnet lan | `);
    told('Subnet status | Subnet lan | status.v4usingIPs is 9; the ledger says 3');
    expect(lines.at(-2)).to.match(/^3 Pods, 3 allocations, 3 IP objects compared at seq \d+: 9 disagreements$/);

    await stack.watcher.start();
    await kubernetes.remove('IP', 'stray');
    await eventually(async () => {
      // Its container may answer still: the CNI DEL is yet to come. That is as it should be.
      const { code, stderr } = await check();
      expect({ code, stderr: stderr.replace(/container \S+/, 'container …') }).to.deep.equal({
        code: 0,
        stderr: `${goes} of subnet lan is held back: container … of Pod default/goes on node node-1 may still answer on it\n`,
      });
    });
    expect((await plugin(scene, { pod: 'goes', network: 'lan', command: 'DEL' })).code).to.equal(0);
    await expectAgreement(stack);
    await eventually(async () => expect((await check()).code).to.equal(0));
  });

  it('names both holders of an address that a hand in etcd gave a second time, from another Subnet', async () => {
    const { kubernetes, stack } = scene;
    const spec = { provider: 'ovn', cidrBlock: '10.8.0.0/24' };
    await kubernetes.create({ kind: 'Subnet', metadata: { name: 'overlay' }, spec });
    const address = await addressOf(scene, 'stays', 'lan');
    const [own, forged] = ['lan', 'overlay'].map((subnet) => `/ipledger/v1/addr/${subnet}/${address}`) as [
      string,
      string,
    ];
    const text = (await stack.etcd.etcdctl(['get', '--print-value-only', own])).trimEnd();
    const claim = text.replaceAll('"pod":"stays"', '"pod":"forged"').replace(/"alloc":\d+/, '"alloc":9999');
    await stack.etcd.etcdctl(['put', forged, claim]);
    const twice = `${address} on network lan.default`;

    const byKeys = await check('--claims');
    expect(byKeys.code).to.equal(1);
    expect(byKeys.stdout).to.contain(
      `${twice} is held twice, by Pod default/forged and, from subnet lan, by Pod default/stays`,
    );

    // A start reads the keys.
    await stack.allocator.kill();
    await stack.allocator.start();
    await eventually(async () => {
      const { stdout } = await check();
      expect(stdout.replaceAll(/ {2,}/g, ' | ')).to.match(
        new RegExp(
          `^held twice \\| ${twice} \\| Pod default/stays \\(subnet lan, event \\d+\\) and Pod default/forged \\(subnet overlay, event 9999\\) both hold it`,
          'm',
        ),
      );
    });

    await stack.etcd.etcdctl(['del', forged]);
    await stack.allocator.kill();
    await stack.allocator.start();
    await eventually(async () => expect((await check()).code).to.equal(0));
  });

  it('says that it cannot tell while the Kubernetes API or the allocator is away', async () => {
    const { allocator, cluster } = scene.stack;
    for (const [server, sentence] of [
      [cluster.apiServer, /could not compare: cannot read \S+ of the Kubernetes API at https:\/\/127.0.0.1:\d+ \(/],
      [allocator, /could not compare: cannot reach the allocator at 127.0.0.1:\d+ \(/],
    ] as const) {
      await server.kill();
      const { code, stdout, stderr } = await check();
      await server.start();
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(sentence);
    }
  });
});
