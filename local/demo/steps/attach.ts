/** Steps on the node: CNI ADD, a real interface, traffic, CNI DEL. */
import { expect } from 'chai';
import { createNamespace, createNodeNamespace } from '../../../test/harness/network/network-namespaces.ts';
import type { DemoEnvironment } from '../demo-environment.ts';
import type { Terminal } from '../terminal.ts';
import { firstLines, lastLines, splitLines, matchingLines } from '../output-filter.ts';
import { type PodAddresses, forEachPodShell } from './pods.ts';

const mac = '00:00:00:53:6b:bb';

export async function openSandboxes({ terminal, run }: DemoEnvironment, pods: PodAddresses): Promise<void> {
  terminal.step(
    "Network namespaces replace the node and each Pod's sandbox. The node's eth0 is one end of a veth pair.",
  );
  await createNodeNamespace(run, 'node-1');
  for (const pod of pods.keys()) await createNamespace(run, pod);
  terminal.define(`RUN=ipledger-${run.id}`);
  await terminal.run({
    command: 'ls /var/run/netns | grep $RUN',
    check: (output) =>
      expect(splitLines(output)).to.include.members([...pods.keys()].map((pod) => `ipledger-${run.id}-${pod}`)),
  });
  await terminal.runUntilPassed({
    command: 'ip -n $RUN-node-1 -brief link show eth0',
    check: (output) => expect(output).to.match(/^eth0@\S+ +UP /),
  });
}

export async function attachPods(terminal: Terminal, pods: PodAddresses): Promise<void> {
  terminal.step(
    'Each Pod is attached as by a container runtime: CNI ADD of the macvlan plugin. It calls its IPAM plugin, kube-ovn,',
    'which requests the address from the agent, and the agent from the allocator. The demo shows only the address.',
  );
  terminal.define(
    'cni() {',
    '  CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=$2" \\',
    '    ip netns exec $RUN-node-1 cnitool -i net1 $1 macvlan /var/run/netns/$RUN-$2',
    '}',
  );
  for (const [pod, address] of pods) {
    await terminal.run({
      command: `cni add ${pod}`,
      trim: matchingLines(/"address"/),
      check: (output) => {
        const { ips } = JSON.parse(output) as { ips: { address: string }[] };
        expect(ips.map((ip) => ip.address)).to.deep.equal([`${address}/16`]);
      },
    });
  }
  terminal.print('✓ each Pod has the address of its annotation');
}

export async function showInterface(terminal: Terminal): Promise<void> {
  terminal.step('The interface has the address and the MAC that manifest 04 requests, and no default route.');
  await terminal.runUntilPassed({
    command: 'ip -n $RUN-static-ip address show net1',
    trim: firstLines(3),
    check: (output) => {
      expect(output).to.match(/^\d+: net1@.*[<,]UP[,>]/);
      expect(output).to.contain(`link/ether ${mac} `);
      expect(output).to.contain('inet 172.17.0.100/16 ');
    },
  });
  await terminal.runUntilPassed({
    command: 'ip -n $RUN-static-ip route',
    check: (output) => {
      expect(splitLines(output)).to.have.length(1);
      expect(output).to.match(/^172\.17\.0\.0\/16 dev net1 /);
    },
  });
}

export async function pingEachOther(terminal: Terminal): Promise<void> {
  terminal.step('The Pods reach each other, and the requested MAC answers.');
  await terminal.runUntilPassed({
    command: 'ip netns exec $RUN-samplepod ping -c 3 -i 0.2 -W 5 172.17.0.100',
    trim: lastLines(2),
    check: (output) => expect(output).to.contain(' 3 received'),
  });
  await terminal.runUntilPassed({
    command: 'ip -n $RUN-samplepod neighbour show 172.17.0.100',
    check: (output) => expect(output).to.contain(`lladdr ${mac}`),
  });
}

export async function detachPods(terminal: Terminal): Promise<void> {
  terminal.step('The node removes the interfaces: CNI DEL.');
  await terminal.run({
    command: `${forEachPodShell}; do cni del $pod || exit; done`,
    check: (output) => expect(output).to.equal(''),
  });
  await terminal.runUntilPassed({
    command: 'ip -n $RUN-static-ip -brief link',
    check: (output) => expect(splitLines(output).map((line) => line.split(' ')[0])).to.deep.equal(['lo']),
    proves: 'only the loopback interface remains',
  });
}
