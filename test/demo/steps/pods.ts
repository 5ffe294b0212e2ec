/** The Pods as Kubernetes sees them: created, placed on a node, annotated, deleted. */
import { expect } from 'chai';
import type { Terminal } from '../terminal.ts';
import { linesOf } from '../trim.ts';

/** Which Pod has which address. */
export type Addresses = ReadonlyMap<string, string>;

/** All Pods there are, in the language of the shell. */
export const eachPod = "for pod in $(kubectl get pods -o jsonpath='{.items[*].metadata.name}')";

export async function nameNetwork(terminal: Terminal): Promise<void> {
  terminal.step(
    'A network gets a name: macvlan links on eth0 (a NetworkAttachmentDefinition), and the Subnet that its',
    'addresses come from.',
  );
  await terminal.act({
    command: 'kubectl apply -f 01-nad-macvlan.yaml -f 02-subnet-macvlan.yaml',
    check: (output) => expect(linesOf(output)).to.have.length(2),
  });
  await terminal.act({
    command: 'kubectl wait subnet macvlan --for=condition=Ready --timeout=30s',
    check: (output) => expect(output).to.contain('condition met'),
    proves: 'the Subnet is in the ledger',
  });
}

export async function createPods(terminal: Terminal): Promise<void> {
  terminal.step(
    'Four Pods want an address on it: one takes any, one asks for 172.17.0.100 and a MAC, and the two of a Deployment',
    'share a list of three.',
  );
  await terminal.act({
    command: 'kubectl apply -f 03-pod-random.yaml -f 04-pod-static.yaml -f 05-deployment-ip-pool.yaml',
    check: (output) => expect(linesOf(output)).to.have.length(3),
  });
  await terminal.look({
    command: 'kubectl get pods',
    check: (output) => expect(linesOf(output).slice(1)).to.have.length(4),
  });
}

export async function placePods(terminal: Terminal): Promise<void> {
  terminal.step('No scheduler and no kubelet run here, so their part is played by hand: each Pod is bound to a node.');
  terminal.define(
    'bind() {',
    `  echo '{"kind":"Binding","apiVersion":"v1","metadata":{"name":"'$1'"},"target":{"name":"node-1"}}' |`,
    '    kubectl create --raw /api/v1/namespaces/default/pods/$1/binding -f - >/dev/null',
    '}',
  );
  await terminal.act({
    command: `${eachPod}; do bind $pod || exit; done`,
    check: (output) => expect(output).to.equal(''),
  });
}

/** Waits until each Pod has its address, and says which. */
export async function showAddresses(terminal: Terminal): Promise<Addresses> {
  terminal.step(
    'An annotation tells each Pod its address as soon as the ledger has it, before any node asks for it. All of them',
    "go by Kube-OVN's names.",
  );
  const table = await terminal.look({
    command: [
      "kubectl get pods -o custom-columns='POD:.metadata.name,NODE:.spec.nodeName,'\\",
      "'ADDRESS:.metadata.annotations.macvlan\\.default\\.kubernetes\\.io/ip_address'",
    ].join('\n'),
    check: (output) => {
      const [random, fixed, ...ofList] = addressesIn(output).values();
      expect([random, fixed]).to.deep.equal(['172.17.0.11', '172.17.0.100']);
      expect(ofList.sort()).to.deep.equal(['172.17.0.200', '172.17.0.201']);
    },
    proves: 'the lowest free one behind excludeIps; the one that was asked for; two of the three on the list',
  });
  await showAnnotations(terminal);
  return addressesIn(table);
}

function addressesIn(table: string): Map<string, string> {
  const rows = linesOf(table).slice(1);
  return new Map(rows.map((row) => row.split(/\s+/)).map(([pod = '', , address = '']) => [pod, address]));
}

async function showAnnotations(terminal: Terminal): Promise<void> {
  await terminal.look({
    command: 'kubectl annotate pod static-ip --list | grep -v last-applied | sort',
    check: (output) =>
      expect(linesOf(output)).to.have.members([
        'k8s.v1.cni.cncf.io/networks=default/macvlan',
        'macvlan.default.kubernetes.io/allocated=true',
        'macvlan.default.kubernetes.io/cidr=172.17.0.0/16',
        'macvlan.default.kubernetes.io/gateway=172.17.0.1',
        'macvlan.default.kubernetes.io/ip_address=172.17.0.100',
        'macvlan.default.kubernetes.io/mac_address=00:00:00:53:6B:BB',
        'ovn.kubernetes.io/ip_address=10.16.0.15',
        'ovn.kubernetes.io/mac_address=00:00:00:53:6B:B6',
      ]),
    proves: 'ovn.kubernetes.io/… is a wish to the primary network, which is not served here: left as it was',
  });
}

/** As a user deletes them: the API server waits for the node's word that they have ended. */
export async function deletePods(terminal: Terminal): Promise<void> {
  terminal.step('The Pods are deleted; they keep their addresses until the node says that they have ended.');
  await terminal.act({
    command: 'kubectl delete --wait=false -f 03-pod-random.yaml -f 04-pod-static.yaml -f 05-deployment-ip-pool.yaml',
    check: (output) => expect(linesOf(output)).to.have.length(3),
  });
  await terminal.look({
    command: 'kubectl get pods',
    check: (output) => expect(output.match(/Terminating/g)).to.have.length(4),
  });
}

/** The kubelet's last word. */
export async function endPods(terminal: Terminal): Promise<void> {
  terminal.step('The node says so: by hand again, as no kubelet does.');
  await terminal.act({
    command: 'kubectl delete pods --all --grace-period=0 --force 2>/dev/null',
    check: (output) => expect(linesOf(output)).to.have.length(4),
  });
}
