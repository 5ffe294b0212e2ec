/** The Pods as their node sees them: CNI ADD, a real interface, traffic, CNI DEL. */
import { expect } from 'chai';
import { createNamespace, createNode } from '../../harness/network.ts';
import type { Stage } from '../stage.ts';
import type { Terminal } from '../terminal.ts';
import { firstLines, lastLines, linesOf, only } from '../trim.ts';
import { type Addresses, eachPod } from './pods.ts';

const mac = '00:00:00:53:6b:bb';

export async function openSandboxes({ terminal, run }: Stage, pods: Addresses): Promise<void> {
  terminal.step(
    "Network namespaces stand for the node, whose eth0 is one end of a veth pair, and for each Pod's sandbox.",
  );
  await createNode(run, 'node-1');
  for (const pod of pods.keys()) await createNamespace(run, pod);
  terminal.define(`RUN=ipledger-${run.id}`);
  await terminal.act({
    command: 'ls /var/run/netns | grep $RUN',
    check: (output) =>
      expect(linesOf(output)).to.include.members([...pods.keys()].map((pod) => `ipledger-${run.id}-${pod}`)),
  });
  await terminal.look({
    command: 'ip -n $RUN-node-1 -brief link show eth0',
    check: (output) => expect(output).to.match(/^eth0@\S+ +UP /),
  });
}

export async function attachPods(terminal: Terminal, pods: Addresses): Promise<void> {
  terminal.step(
    'Each Pod is attached as a container runtime does it: CNI ADD of the real macvlan plugin, which asks kube-ovn, its',
    'IPAM plugin, for the address, which asks the agent, which asks the allocator. Of the results only that is shown.',
  );
  terminal.define(
    'cni() {',
    '  CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=$2" \\',
    '    ip netns exec $RUN-node-1 cnitool -i net1 $1 macvlan /var/run/netns/$RUN-$2',
    '}',
  );
  for (const [pod, address] of pods) {
    await terminal.act({
      command: `cni add ${pod}`,
      trim: only(/"address"/),
      check: (output) => {
        const { ips } = JSON.parse(output) as { ips: { address: string }[] };
        expect(ips.map((ip) => ip.address)).to.deep.equal([`${address}/16`]);
      },
    });
  }
  terminal.say('✓ each has the address of its annotation');
}

export async function showInterface(terminal: Terminal): Promise<void> {
  terminal.step(
    'It is a real interface, with the address and the MAC that manifest 04 asks for, and no default route.',
  );
  await terminal.look({
    command: 'ip -n $RUN-static-ip address show net1',
    trim: firstLines(3),
    check: (output) => {
      expect(output).to.match(/^\d+: net1@.*[<,]UP[,>]/);
      expect(output).to.contain(`link/ether ${mac} `);
      expect(output).to.contain('inet 172.17.0.100/16 ');
    },
  });
  await terminal.look({
    command: 'ip -n $RUN-static-ip route',
    check: (output) => {
      expect(linesOf(output)).to.have.length(1);
      expect(output).to.match(/^172\.17\.0\.0\/16 dev net1 /);
    },
  });
}

export async function pingEachOther(terminal: Terminal): Promise<void> {
  terminal.step('The Pods reach each other, and it is that MAC which answers.');
  await terminal.look({
    command: 'ip netns exec $RUN-samplepod ping -c 3 -i 0.2 -W 5 172.17.0.100',
    trim: lastLines(2),
    check: (output) => expect(output).to.contain(' 3 received'),
  });
  await terminal.look({
    command: 'ip -n $RUN-samplepod neighbour show 172.17.0.100',
    check: (output) => expect(output).to.contain(`lladdr ${mac}`),
  });
}

export async function detachPods(terminal: Terminal): Promise<void> {
  terminal.step('The node takes the interfaces away: CNI DEL.');
  await terminal.act({
    command: `${eachPod}; do cni del $pod || exit; done`,
    check: (output) => expect(output).to.equal(''),
  });
  await terminal.look({
    command: 'ip -n $RUN-static-ip -brief link',
    check: (output) => expect(linesOf(output).map((line) => line.split(' ')[0])).to.deep.equal(['lo']),
    proves: 'only the loopback is left',
  });
}
