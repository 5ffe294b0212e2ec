/**
 * Runs examples of the documents on a running stack: objects that an operator applies, and commands
 * of auditors.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { eventually } from '../e2e/support/eventually.ts';
import type { KubeObject } from '../harness/kubernetes/kubernetes-client.ts';
import { makePod, makeSubnet, openTestEnvironment, type TestEnvironment } from '../e2e/support/test-environment.ts';
import { startEtcd } from '../harness/etcd.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import type { CommandResult } from '../harness/processes/command.ts';
import { documentedCommands } from './documented-commands.ts';
import { runDocumented } from './run-documented.ts';

/** The endpoint of etcd in the documents. */
const documentedEtcd = 'http://127.0.0.1:2379';

describe('The examples of the documents', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
  });
  after(() => scene?.run.end());

  const apply = (file: string, name: string): Promise<void> =>
    scene.stack.cluster.apply(documentedCommands(file, name));

  const waitForSubnet = (name: string): Promise<KubeObject> =>
    eventually(async () => {
      const subnet = await scene.kubernetes.get('Subnet', name);
      const conditions = (subnet.status?.['conditions'] ?? []) as { type: string; status: string }[];
      expect(conditions.find(({ type }) => type === 'Ready')?.status, JSON.stringify(conditions)).to.equal('True');
      return subnet;
    });

  const run = (commands: string, env: Readonly<Record<string, string>> = {}, options = {}): Promise<CommandResult> => {
    const { stack } = scene;
    const variables = {
      KUBECONFIG: stack.cluster.kubeconfig,
      IPLEDGER_ENDPOINT: stack.allocator.endpoint,
      ETCDCTL_ENDPOINTS: stack.etcd.endpoint,
    };
    return runDocumented(scene.run, commands, { ...variables, ...env }, options);
  };

  const ipledger = (...args: string[]): Promise<CommandResult> =>
    runIpledger(args, { allocator: scene.stack.allocator });

  it('The examples of the documents limit a Subnet', async () => {
    await apply('docs/operations.md', 'subnet-limits');
    await waitForSubnet('lan');
    const { stdout } = await ipledger('subnets', '-o', 'json');
    const { subnets } = JSON.parse(stdout) as { subnets: { name: string; spec: object }[] };
    expect(subnets.find(({ name }) => name === 'lan')?.spec).to.include({
      cooldownMs: 300_000,
      bindingTimeoutMs: 7_200_000,
    });
  });

  it('The examples of the documents connect a Subnet to a physical network', async () => {
    await apply('docs/ovn.md', 'underlay');
    const { spec } = await waitForSubnet('office');
    expect(spec).to.include({ vlan: 'vlan100' });
  });

  it('The examples of the documents request NICs as OVN4NFV does', async () => {
    await apply('docs/ovn4nfv.md', 'subnet');
    await makeSubnet(scene, 'ovn-ls-26', { cidrBlock: '172.16.26.0/24', provider: 'ovn4nfv.kube-system.ovn' });
    for (const name of ['ovn-ls-25', 'ovn-ls-26']) await waitForSubnet(name);
    const { metadata } = parse(documentedCommands('docs/ovn4nfv.md', 'request')) as {
      metadata: { annotations: Record<string, string> };
    };
    await scene.kubernetes.create({
      kind: 'Pod',
      metadata: { name: 'nfv', annotations: metadata.annotations },
      spec: { nodeName: 'node-1', containers: [{ name: 'box', image: 'box' }] },
    });
    const answer = await eventually(async () => {
      const { metadata: shown } = await scene.kubernetes.get('Pod', 'nfv');
      return JSON.parse(shown.annotations?.['ovnIfaceList'] ?? '') as { ip_address: string; interface: string }[];
    });
    expect(answer.map((nic) => nic.interface)).to.deep.equal(['net0', 'net1']);
    expect(answer[1]).to.include({ ip_address: '172.16.26.3/24', mac_address: '0a:00:00:00:00:15' });
  });

  it('The examples of the documents make a Subnet by a Network of OVN4NFV', async () => {
    await apply('docs/ovn4nfv.md', 'network');
    const { spec } = await waitForSubnet('ovn-priv-net');
    expect(spec).to.deep.include({ cidrBlock: '172.16.44.0/24', gateway: '172.16.44.1' });
  });

  it('The examples of the documents attach a Pod without a request to the default network of OVN4NFV', async () => {
    await apply('docs/ovn4nfv.md', 'attachment');
    await makePod(scene, 'plain', 'ovn-network');
    await eventually(async () => {
      const { metadata } = await scene.kubernetes.get('Pod', 'plain');
      expect(metadata.annotations?.['ovn']).to.match(/172\.16\./);
    });
  });

  it('The examples of the documents verify the ledger in etcd and an export of it', async () => {
    const commands = documentedCommands('docs/audit.md', 'verify').replace(documentedEtcd, scene.stack.etcd.endpoint);
    const { code, stdout, stderr } = await run(commands);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout.match(/: no findings$/gm)).to.have.length(2);
  });

  it('The examples of the documents replay an export into an empty etcd, byte for byte', async () => {
    const other = await startEtcd(scene.run, { name: 'other' });
    const commands = documentedCommands('docs/audit.md', 'replay').replace(/http:\S+/, other.endpoint);
    expect(await run(commands)).to.include({ code: 0, stderr: '' });
    const { stdout } = await ipledger('export', '--etcd', other.endpoint);
    expect(stdout).to.equal(readFileSync(join(scene.run.folder, 'ledger.ndjson'), 'utf8'));
  });

  it('The examples of the documents make a key for checkpoints', async () => {
    const key = join(scene.run.folder, 'checkpoint.key');
    const commands = documentedCommands('docs/audit.md', 'checkpoint-key');
    expect(await run(commands.replace('/etc/ipledger/checkpoint.key', key))).to.include({ code: 0, stderr: '' });
    expect(existsSync(`${key}.pub`)).to.equal(true);
  });

  it('The examples of the documents distinguish an empty answer by its exit status', async () => {
    const when = new Date().toISOString();
    const { stdout } = await run(documentedCommands('docs/cli.md', 'exit-status'), { when }, { options: '-uc' });
    expect(stdout).to.equal('an unmanaged address\n');
  });

  it('The examples of the documents free the space of etcd, while allocation goes on', async () => {
    const compacted = await run(documentedCommands('docs/operations.md', 'compact'));
    expect(compacted.code, compacted.stderr).to.equal(0);
    await makePod(scene, 'later', 'ovn-network');
    await eventually(async () => {
      const { metadata } = await scene.kubernetes.get('Pod', 'later');
      expect(metadata.annotations?.['ovn']).to.match(/172\.16\./);
    });
    expect(await ipledger('verify', '--etcd', scene.stack.etcd.endpoint)).to.include({ code: 0 });
  });
});
