/** Steps in Kubernetes: Pods are created, scheduled, annotated and deleted. */
import { expect } from 'chai';
import type { Terminal } from '../terminal.ts';
import { splitLines } from '../output-filter.ts';

/** The address of each Pod. */
export type PodAddresses = ReadonlyMap<string, string>;

/** A loop over all Pods, in shell. */
export const forEachPodShell = "for pod in $(kubectl get pods -o jsonpath='{.items[*].metadata.name}')";

export async function nameNetwork(terminal: Terminal): Promise<void> {
  terminal.step(
    'A network is defined: macvlan links on eth0 (a NetworkAttachmentDefinition), and the Subnet with its addresses.',
  );
  await terminal.run({
    command: 'kubectl apply -f 01-nad-macvlan.yaml -f 02-subnet-macvlan.yaml',
    check: (output) => expect(splitLines(output)).to.have.length(2),
  });
  await terminal.run({
    command: 'kubectl wait subnet macvlan --for=condition=Ready --timeout=30s',
    check: (output) => expect(output).to.contain('condition met'),
    proves: 'the Subnet is in the ledger',
  });
}

export async function createPods(terminal: Terminal): Promise<void> {
  terminal.step(
    'Four Pods need an address: one takes any, one requests 172.17.0.100 and a MAC, and the two of a Deployment share',
    'a list of three addresses.',
  );
  await terminal.run({
    command: 'kubectl apply -f 03-pod-random.yaml -f 04-pod-static.yaml -f 05-deployment-ip-pool.yaml',
    check: (output) => expect(splitLines(output)).to.have.length(3),
  });
  await terminal.runUntilPassed({
    command: 'kubectl get pods',
    check: (output) => expect(splitLines(output).slice(1)).to.have.length(4),
  });
}

export async function schedulePods(terminal: Terminal): Promise<void> {
  terminal.step('The demo runs no scheduler and no kubelet. A command binds each Pod to a node instead.');
  terminal.define(
    'bind() {',
    `  echo '{"kind":"Binding","apiVersion":"v1","metadata":{"name":"'$1'"},"target":{"name":"node-1"}}' |`,
    '    kubectl create --raw /api/v1/namespaces/default/pods/$1/binding -f - >/dev/null',
    '}',
  );
  await terminal.run({
    command: `${forEachPodShell}; do bind $pod || exit; done`,
    check: (output) => expect(output).to.equal(''),
  });
}

/** Waits until each Pod has its address, and returns the addresses. */
export async function showAddresses(terminal: Terminal): Promise<PodAddresses> {
  terminal.step(
    'Each Pod gets its address in an annotation as soon as the ledger has it, before any node requests it. The',
    'annotations have the names of Kube-OVN.',
  );
  const table = await terminal.runUntilPassed({
    command: [
      "kubectl get pods -o custom-columns='POD:.metadata.name,NODE:.spec.nodeName,'\\",
      "'ADDRESS:.metadata.annotations.macvlan\\.default\\.kubernetes\\.io/ip_address'",
    ].join('\n'),
    check: (output) => {
      const [random, fixed, ...listed] = addressesIn(output).values();
      expect([random, fixed]).to.deep.equal(['172.17.0.11', '172.17.0.100']);
      expect(listed.sort()).to.deep.equal(['172.17.0.200', '172.17.0.201']);
    },
    proves: 'the lowest free address after excludeIps; the requested address; two of the three on the list',
  });
  await showAnnotations(terminal);
  return addressesIn(table);
}

function addressesIn(table: string): Map<string, string> {
  const rows = splitLines(table).slice(1);
  return new Map(rows.map((row) => row.split(/\s+/)).map(([pod = '', , address = '']) => [pod, address]));
}

async function showAnnotations(terminal: Terminal): Promise<void> {
  await terminal.runUntilPassed({
    command: 'kubectl annotate pod static-ip --list | grep -v last-applied | sort',
    check: (output) =>
      expect(splitLines(output)).to.have.members([
        'k8s.v1.cni.cncf.io/networks=default/macvlan',
        'macvlan.default.kubernetes.io/allocated=true',
        'macvlan.default.kubernetes.io/cidr=172.17.0.0/16',
        'macvlan.default.kubernetes.io/gateway=172.17.0.1',
        'macvlan.default.kubernetes.io/ip_address=172.17.0.100',
        'macvlan.default.kubernetes.io/mac_address=00:00:00:53:6B:BB',
        'macvlan.default.kubernetes.io/routed=true',
        'ovn.kubernetes.io/ip_address=10.16.0.15',
        'ovn.kubernetes.io/mac_address=00:00:00:53:6B:B6',
      ]),
    proves: 'ovn.kubernetes.io/… is a request to the primary network, which ipledger does not serve: it is unchanged',
  });
}

/** Deletes the Pods. The API server waits until the node confirms the end of each Pod. */
export async function deletePods(terminal: Terminal): Promise<void> {
  terminal.step('The Pods are deleted. They keep their addresses until the node confirms their end.');
  await terminal.run({
    command: 'kubectl delete --wait=false -f 03-pod-random.yaml -f 04-pod-static.yaml -f 05-deployment-ip-pool.yaml',
    check: (output) => expect(splitLines(output)).to.have.length(3),
  });
  await terminal.runUntilPassed({
    command: 'kubectl get pods',
    check: (output) => expect(output.match(/Terminating/g)).to.have.length(4),
  });
}

/** Confirms the end of the Pods, as the kubelet does. */
export async function endPods(terminal: Terminal): Promise<void> {
  terminal.step('The node confirms: a command replaces the kubelet again.');
  await terminal.run({
    command: 'kubectl delete pods --all --grace-period=0 --force 2>/dev/null',
    check: (output) => expect(splitLines(output)).to.have.length(4),
  });
}
