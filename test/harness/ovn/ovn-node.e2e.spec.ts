/** Tests two OVN nodes: a switch, a port on each node, ping and TCP through the tunnel. */
import { expect } from 'chai';
import { inNamespace, probeMacvlan } from '../network/network-namespaces.ts';
import { openRun, type Run } from '../run.ts';
import { type OvnCentral, startOvnCentral } from './ovn-central.ts';
import { expectTransfer } from '../network/tcp-transfer.ts';
import { type OvnNode, startOvnNode } from './ovn-node.ts';
import { probeOvn } from './ovn-programs.ts';
import { attachPod } from './pod-port.ts';

const bytes = 1_000_000;

describe('Two OVN nodes', () => {
  let run: Run;
  let central: OvnCentral;
  let nodes: OvnNode[];
  before(async function () {
    const abilities = [probeOvn(), await probeMacvlan()];
    for (const ability of abilities)
      if (!ability.isAvailable) {
        console.log(`      skipped: ${ability.reason}`);
        this.skip();
      }
    run = openRun();
    central = await startOvnCentral(run);
    nodes = await Promise.all([1, 2].map((number) => startOvnNode(run, { number, central })));
  });
  after(() => run?.end());

  it('Two OVN nodes connect the ports of one switch by ping and TCP', async () => {
    const [one, two] = nodes as [OvnNode, OvnNode];
    const ports = [
      { name: 'a', mac: '02:00:00:00:00:11', address: '172.17.0.11' },
      { name: 'b', mac: '02:00:00:00:00:12', address: '172.17.0.12' },
    ] as const;
    const added = ports.flatMap(({ name, mac, address }) => [
      ...`-- lsp-add lan ${name} -- lsp-set-addresses ${name}`.split(' '),
      `${mac} ${address}`,
    ]);
    await central.nbctl(['--wait=sb', 'ls-add', 'lan', ...added]);
    const [a, b] = await Promise.all([attachPod(run, one, ports[0]), attachPod(run, two, ports[1])]);
    await central.nbctl(['--wait=hv', 'sync']);

    // A tunnel drops packets until it knows the MAC of its other end
    const outer = await inNamespace(one.namespace, ['ping', '-c', '1', '-w', '30', two.address]);
    expect(outer.code, outer.stdout).to.equal(0);
    const ping = await inNamespace(a, ['ping', '-c', '1', '-w', '30', ports[1].address]);
    expect(ping.code, ping.stdout).to.equal(0);

    await expectTransfer(run, { from: a, to: b, address: ports[1].address, bytes });
  });

  it('Two OVN nodes keep their ports when ovn-controller and northd are killed and started again', async () => {
    const [one] = nodes as [OvnNode];
    await Promise.all([one.controller.restart(), central.northd.restart()]);
    await central.nbctl(['--wait=hv', 'sync']);
    expect((await central.nbctl(['get', 'logical_switch_port', 'a', 'up'])).trim()).to.equal('true');
  });
});
