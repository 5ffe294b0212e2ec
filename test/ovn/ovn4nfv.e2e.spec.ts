/**
 * The Pods of the OVN4NFV document on real nodes: one ADD makes all NICs that their annotation
 * requests.
 */
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { inNamespace } from '../harness/network/network-namespaces.ts';
import { ovn4nfvNamespace } from '../harness/node/ovn-cluster.ts';
import { root } from '../harness/paths.ts';
import { listLinks, listSandboxes, type Sandbox } from '../node/sandboxes.ts';
import type { OvnEnvironment } from './ovn-environment.ts';
import { describeOnOvn } from './ovn-suite.ts';

const networks = `
apiVersion: v1
kind: Namespace
metadata: { name: ${ovn4nfvNamespace} }
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: ovn-networkobj, namespace: default }
spec:
  config: '{"cniVersion": "0.3.1", "name": "ovn4nfv-k8s-plugin", "type": "ovn4nfvk8s-cni"}'
---
apiVersion: k8s.plugin.opnfv.org/v1alpha1
kind: Network
metadata: { name: ovn-ls-25 }
spec:
  cniType: ovn4nfv
  ipv4Subnets: [{ name: subnet1, subnet: 172.16.25.0/24, gateway: 172.16.25.1/24 }]
---
apiVersion: k8s.plugin.opnfv.org/v1alpha1
kind: Network
metadata: { name: ovn-ls-26 }
spec:
  cniType: ovn4nfv
  ipv4Subnets: [{ name: subnet1, subnet: 172.16.26.0/24, gateway: 172.16.26.1/24 }]
`;

/** Formats a Pod that requests one NIC. */
const podWithNic = (name: string): string => `
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  annotations: { ovnNetwork: '[{ "name": "ovn-ls-25", "interface": "net0" }]' }
spec:
  containers: [{ name: box, image: "docker.io/library/alpine:edge", command: [sleep, infinity] }]
`;

/** Waits for the sandbox of a Pod of the namespace, with the addresses of its NICs. */
function waitForSandbox({ a, b }: OvnEnvironment, pod: string) {
  return eventually(async (): Promise<{ sandbox: Sandbox; nics: Map<string, string[]> }> => {
    const sandbox = [a, b].flatMap(listSandboxes).find((each) => each.pod === `${ovn4nfvNamespace}/${pod}`);
    if (!sandbox) throw new Error(`Pod ${pod} has no sandbox`);
    const nics = await listLinks(sandbox.network);
    expect([...nics.keys()]).to.include('net0');
    expect(nics.get('net0')).to.have.length(1);
    return { sandbox, nics };
  }, 120_000);
}

describeOnOvn('the OVN4NFV document', (it) => {
  it('a Pod has both NICs, and the annotation lists them in the order of the request', async (environment) => {
    const { kubectl, apply } = environment.stack.cluster;
    await apply(networks);
    const document = `${root}/test/manifests/networking-plugin/01-pod-ovn-network.yaml`;
    await eventually(() => kubectl(['apply', '-n', ovn4nfvNamespace, '-f', document]));
    const { nics } = await waitForSandbox(environment, 'pod-ovn');
    expect(nics.get('net1')).to.deep.equal(['172.16.26.3/24']);
    const answer = await kubectl([
      'get',
      'pod',
      '-n',
      ovn4nfvNamespace,
      'pod-ovn',
      '-o',
      'jsonpath={.metadata.annotations.ovnIfaceList}',
    ]);
    const list = JSON.parse(answer) as { ip_address: string; mac_address: string }[];
    expect(list.map(({ ip_address: address }) => address)).to.deep.equal([nics.get('net0')?.[0], '172.16.26.3/24']);
    expect(list[1]?.mac_address).to.equal('0a:00:00:00:00:15');
  });

  it('the deletion of web-1 leaves the NIC of web-10', async (environment) => {
    const { kubectl, apply } = environment.stack.cluster;
    for (const name of ['web-1', 'web-10'])
      await apply(podWithNic(name).replace('metadata:', `metadata:\n  namespace: ${ovn4nfvNamespace}`));
    const [{ sandbox: one }, { sandbox: ten, nics }] = await Promise.all([
      waitForSandbox(environment, 'web-1'),
      waitForSandbox(environment, 'web-10'),
    ]);
    const address = (nics.get('net0')?.[0] ?? '').replace(/\/.*/, '');
    const pings = async ({ network }: Sandbox): Promise<void> => {
      const { stdout } = await inNamespace(network, ['ping', '-c', '3', '-W', '1', address]);
      expect(stdout).to.match(/ 0% packet loss/);
    };
    await eventually(() => pings(one));
    await kubectl(['delete', 'pod', '-n', ovn4nfvNamespace, 'web-1', '--grace-period=0', '--force']);
    await eventually(() =>
      expect([environment.a, environment.b].flatMap(listSandboxes).map(({ uid }) => uid)).to.not.include(one.uid),
    );
    const peer = await waitForSandbox(environment, 'pod-ovn');
    await eventually(() => pings(peer.sandbox));
    expect((await listLinks(ten.network)).get('net0')).to.deep.equal(nics.get('net0'));
  });
});
