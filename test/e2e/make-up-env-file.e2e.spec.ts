import { join } from 'node:path';
import { expect } from 'chai';
import { documentedCommands } from '../docs/documented-commands.ts';
import { mustRun } from '../harness/processes/command.ts';
import {
  probeMacvlan,
  createNamespace,
  createNodeNamespace,
  ip,
  type Namespace,
} from '../harness/network/network-namespaces.ts';
import { root } from '../harness/paths.ts';
import { openRun, quoteForShell, type Run } from '../harness/run.ts';
import { terminalTools } from '../../local/up/client-access.ts';
import { startAll } from '../../local/up/start.ts';
import { stopAll } from '../../local/up/stop.ts';

/**
 * The environment of a user's terminal: no program of the project on PATH, and no other variables.
 */
const terminalEnv = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
const podArgs = "CNI_ARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=samplepod'";

describe('A terminal with the env file of `make up`', function () {
  this.timeout(180_000);

  let run: Run;
  let folder: string;
  const runInTerminal = (command: string): Promise<string> =>
    mustRun('sh', ['-c', `. ${quoteForShell(join(folder, 'env'))}\n${command}`], {
      env: { ...terminalEnv, HOME: run.folder },
      folder: join(root, 'test', 'manifests', 'manage-multiple-interface'),
      signal: run.signal,
    });

  before(async () => {
    run = openRun();
    folder = join(run.folder, 'up');
    // Ends the servers if this process is killed: they outlive it by design.
    run.cleanUpWith([process.execPath, join(root, 'local', 'demo', 'stop-servers.ts'), folder]);
    const certificates = join(run.folder, 'certificates');
    const requested = { nodes: 1, tls: undefined, kubeconfig: undefined };
    const settings = { ...requested, listen: '127.0.0.1', certificates, yes: false };
    await startAll({ folder, settings, tools: terminalTools, signal: run.signal });
  });
  after(async () => {
    await stopAll({ folder, purge: true, signal: new AbortController().signal });
    await run.end();
  });

  it('A terminal with the env file of `make up` can apply every manifest of the folder in a dry run', async () => {
    // Must be the first test, while no Subnet is in use: some manifests put one on another network.
    expect(await runInTerminal('kubectl apply --dry-run=server -o name -f .')).to.contain('pod/custom-routes-attach');
  });

  it('A terminal with the env file of `make up` can run the commands of the README, and the Pod gets its address', async () => {
    const commands = documentedCommands('README.md', 'try-it').replace('. .cache/up/env', '');
    const printed = await runInTerminal(`cd ${quoteForShell(root)}\nset -eu\n${commands}`);
    expect(printed)
      .to.match(/^default\/samplepod/m)
      .and.to.contain(': no disagreement\n')
      .and.to.match(/^healthy$/m)
      .and.to.match(/ other keys verified, up to .*: no findings$/m)
      .and.to.contain('"type": "AddressAllocated"');
    const pod = JSON.parse(await runInTerminal('kubectl get pod samplepod -o json')) as {
      metadata: { annotations: object };
    };
    expect(pod.metadata.annotations).to.include({
      'macvlan.default.kubernetes.io/ip_address': '172.17.0.11',
      'macvlan.default.kubernetes.io/cidr': '172.17.0.0/16',
    });
  });

  describe('on a node', () => {
    let node: Namespace;
    let sandbox: Namespace;
    before(async function () {
      const ability = await probeMacvlan();
      if (!ability.isAvailable) {
        console.log(`      skipped: ${ability.reason}`);
        this.skip();
      }
      node = await createNodeNamespace(run, 'node-1');
      sandbox = await createNamespace(run, 'samplepod');
    });
    const onNode = (command: string): Promise<string> =>
      runInTerminal(`${podArgs} nsenter --net=${node.path} ${command}`);

    it('cnitool attaches the Pod on a node with the configuration in NETCONFPATH', async () => {
      const result = JSON.parse(await onNode(`cnitool -i net1 add macvlan ${sandbox.path}`)) as object;
      expect(result).to.have.nested.property('ips[0].address', '172.17.0.11/16');
      expect(await ip(sandbox, ['address', 'show', 'net1'])).to.contain('inet 172.17.0.11/16 ');
      const bound = JSON.parse(await runInTerminal('ipledger allocations -o json')) as object;
      expect(bound).to.have.nested.property('allocations[0].bindings[0].interface', 'net1');
    });

    it('cnitool detaches the Pod on a node, and the Pod keeps its address', async () => {
      await onNode(`cnitool -i net1 del macvlan ${sandbox.path}`);
      expect(await ip(sandbox, ['-brief', 'link'])).not.to.contain('net1');
      const detached = JSON.parse(await runInTerminal('ipledger allocations -o json')) as object;
      expect(detached).to.have.nested.property('allocations[0].addresses[0].address', '172.17.0.11');
      expect(detached).to.have.nested.property('allocations[0].bindings').that.is.empty;
    });
  });

  it('A terminal with the env file of `make up` reads the ledger with etcdctl, one line of JSON per event', async () => {
    const lines = await runInTerminal('etcdctl get --prefix /ipledger/v1/log/ --print-value-only');
    const events = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; type: string });
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index + 1));
    expect(events.slice(0, 3).map(({ type: name }) => name)).to.deep.equal([
      'LedgerCreated',
      'SubnetConfigured',
      'AddressAllocated',
    ]);
  });

  it('A terminal with the env file of `make up` calls the allocator with grpcurl and its reflection', async () => {
    const services = await runInTerminal('grpcurl -plaintext "$IPLEDGER_ENDPOINT" list');
    expect(services.trimEnd().split('\n')).to.include.members([
      'grpc.health.v1.Health',
      'ipledger.v1.Ipam',
      'ipledger.v1.Ledger',
      'ipledger.v1.Subnets',
    ]);
    expect(
      await runInTerminal('grpcurl -plaintext "$IPLEDGER_ENDPOINT" describe ipledger.v1.Ipam.Allocate'),
    ).to.contain('rpc Allocate ( .ipledger.v1.AllocateRequest )');
    const request = `-d '{"address": "172.17.0.11"}' "$IPLEDGER_ENDPOINT" ipledger.v1.Ledger/History`;
    const history = JSON.parse(await runInTerminal(`grpcurl -plaintext ${request}`)) as { events: { type: string }[] };
    expect(history.events.at(-1)?.type).to.equal('AddressAllocated');
  });
});
