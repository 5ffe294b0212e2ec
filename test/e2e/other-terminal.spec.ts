import { join } from 'node:path';
import { expect } from 'chai';
import { mustRun } from '../harness/command.ts';
import { canMacvlan, createNamespace, createNode, ip, type Namespace } from '../harness/network.ts';
import { root } from '../harness/paths.ts';
import { openRun, quote, type Run } from '../harness/run.ts';
import { startAll } from '../harness/up/start.ts';
import { stopAll } from '../harness/up/stop.ts';

/** What is there without us: nothing of ours on PATH, no variable but these. */
const bare = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
const podArgs = "CNI_ARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=samplepod'";

describe('another terminal, after `make up`, with only its env file sourced', function () {
  this.timeout(120_000);

  let run: Run;
  let folder: string;
  const type = (command: string): Promise<string> =>
    mustRun('sh', ['-c', `. ${quote(join(folder, 'env'))}\n${command}`], {
      env: { ...bare, HOME: run.folder },
      folder: join(root, 'test', 'manifests', 'manage-multiple-interface'),
      signal: run.signal,
    });

  before(async () => {
    run = openRun();
    folder = join(run.folder, 'up');
    // They outlive us by design, so somebody else ends them should we be killed.
    run.leave([process.execPath, join(root, 'test', 'demo', 'end.ts'), folder]);
    const certificates = join(run.folder, 'certificates');
    const asked = { nodes: 1, tls: undefined, kubeconfig: undefined };
    const settings = { ...asked, listen: '127.0.0.1', certificates, yes: false };
    await startAll({ folder, settings, signal: run.signal });
  });
  after(async () => {
    await stopAll({ folder, purge: true, signal: new AbortController().signal });
    await run.end();
  });

  it('finds every manifest of the folder acceptable to the API server', async () => {
    // Before any is in use: some are variants of one Subnet on another network.
    expect(await type('kubectl apply --dry-run=server -o name -f .')).to.contain('pod/custom-routes-attach');
  });

  it('applies the manifests, and the Pod gets its address', async () => {
    await type('kubectl apply -f 01-nad-macvlan.yaml -f 02-subnet-macvlan.yaml -f 03-pod-random.yaml');
    const allocated = String.raw`{.metadata.annotations.macvlan\.default\.kubernetes\.io/allocated}`;
    await type(`kubectl wait pod samplepod --for=jsonpath='${allocated}'=true --timeout=30s`);
    const pod = JSON.parse(await type('kubectl get pod samplepod -o json')) as { metadata: { annotations: object } };
    expect(pod.metadata.annotations).to.include({
      'macvlan.default.kubernetes.io/ip_address': '172.17.0.11',
      'macvlan.default.kubernetes.io/cidr': '172.17.0.0/16',
    });
  });

  describe('on a node', () => {
    let node: Namespace;
    let sandbox: Namespace;
    before(async function () {
      const ability = await canMacvlan();
      if (!ability.able) {
        console.log(`      skipped: ${ability.reason}`);
        this.skip();
      }
      node = await createNode(run, 'node-1');
      sandbox = await createNamespace(run, 'samplepod');
    });
    const onNode = (command: string): Promise<string> => type(`${podArgs} nsenter --net=${node.path} ${command}`);

    it('attaches the Pod with cnitool, by the configuration that it finds in NETCONFPATH', async () => {
      const result = JSON.parse(await onNode(`cnitool -i net1 add macvlan ${sandbox.path}`)) as object;
      expect(result).to.have.nested.property('ips[0].address', '172.17.0.11/16');
      expect(await ip(sandbox, ['address', 'show', 'net1'])).to.contain('inet 172.17.0.11/16 ');
      const bound = JSON.parse(await type('ipledger allocations -o json')) as object;
      expect(bound).to.have.nested.property('allocations[0].bindings[0].interface', 'net1');
    });

    it('detaches it again, and the address stays the Pod’s', async () => {
      await onNode(`cnitool -i net1 del macvlan ${sandbox.path}`);
      expect(await ip(sandbox, ['-brief', 'link'])).not.to.contain('net1');
      const left = JSON.parse(await type('ipledger allocations -o json')) as object;
      expect(left).to.have.nested.property('allocations[0].addresses[0].address', '172.17.0.11');
      expect(left).to.have.nested.property('allocations[0].bindings').that.is.empty;
    });
  });

  it('reads the ledger with plain etcdctl, a line of JSON an event', async () => {
    const lines = await type('etcdctl get --prefix /ipledger/v1/log/ --print-value-only');
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

  it('asks the allocator by what its reflection tells', async () => {
    const services = await type('grpcurl -plaintext "$IPLEDGER_ENDPOINT" list');
    expect(services.trimEnd().split('\n')).to.include.members([
      'grpc.health.v1.Health',
      'ipledger.v1.Ipam',
      'ipledger.v1.Ledger',
      'ipledger.v1.Subnets',
    ]);
    expect(await type('grpcurl -plaintext "$IPLEDGER_ENDPOINT" describe ipledger.v1.Ipam.Allocate')).to.contain(
      'rpc Allocate ( .ipledger.v1.AllocateRequest )',
    );
    const asked = `-d '{"address": "172.17.0.11"}' "$IPLEDGER_ENDPOINT" ipledger.v1.Ledger/History`;
    const history = JSON.parse(await type(`grpcurl -plaintext ${asked}`)) as { events: { type: string }[] };
    expect(history.events.at(-1)?.type).to.equal('AddressAllocated');
  });
});
