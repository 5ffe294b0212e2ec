/** Tests manifests of "Networking Plugin": Pods that request NICs in OVN4NFV's form. */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { applyManifest } from '../support/manifests.ts';
import {
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
  waitForEvent,
} from '../support/test-environment.ts';

const folder = 'networking-plugin';
const provider = 'ovn4nfv.kube-system.ovn';

/** Waits until an annotation of a Pod is complete. Returns it as JSON. */
function waitForAnswer(
  { kubernetes }: TestEnvironment,
  pod: string,
  key: string,
  isComplete: (answer: unknown) => boolean = () => true,
): Promise<unknown> {
  return eventually(async () => {
    const { metadata } = await kubernetes.get('Pod', pod);
    const answer = metadata.annotations?.[key];
    const parsed = answer === undefined ? undefined : (JSON.parse(answer) as unknown);
    if (parsed === undefined || !isComplete(parsed))
      throw new Error(`Pod ${pod} has no answer ${key}: ${JSON.stringify(metadata.annotations)}`);
    return parsed;
  });
}

const requestOf = (...networks: string[]): { ovnNetwork: string } => ({
  ovnNetwork: JSON.stringify(networks.map((name, index) => ({ name, interface: `net${index}` }))),
});

describe("the documents' manifests: NICs that annotations of OVN4NFV request", function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeSubnet(scene, 'ovn-ls-25', { cidrBlock: '172.16.25.0/24', provider });
    await makeSubnet(scene, 'ovn-ls-26', { cidrBlock: '172.16.26.0/24', provider });
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  it('01: the Pod gets a dynamic and a static NIC, and ovnIfaceList in the order of the request', async () => {
    await applyManifest(scene, folder, '01-pod-ovn-network');
    const [net0, net1, ...more] = (await waitForAnswer(scene, 'pod-ovn', 'ovnIfaceList')) as Record<string, string>[];
    expect(more).to.deep.equal([]);
    expect(net0).to.include({
      ip_address: '172.16.25.2/24',
      gateway_ip: '172.16.25.1',
      defaultGateway: 'false',
      interface: 'net0',
    });
    expect(net0?.['mac_address']).to.match(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
    expect(net1).to.deep.equal({
      ip_address: '172.16.26.3/24',
      mac_address: '0a:00:00:00:00:15',
      gateway_ip: '172.16.26.1',
      defaultGateway: 'false',
      interface: 'net1',
    });
  });

  it('02: the Pod gets the NIC that annotation ovn requests, and the answer in the annotation ovn', async () => {
    await applyManifest(scene, folder, '02-pod-ovn-static');
    await waitForIpObject(scene, 'pod-ovn-static', '172.16.25.10');
    expect(await waitForAnswer(scene, 'pod-ovn-static', 'ovn')).to.deep.equal({
      ip_address: '172.16.25.10/24',
      mac_address: '0a:00:00:00:00:10',
      gateway_ip: '172.16.25.1',
    });
  });

  it('03: a Pod that selects the network of the document by the early annotation gets one NIC', async () => {
    await scene.kubernetes.create({
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'ovn-network' },
      spec: { config: '{ "name": "ovn-kubernetes", "type": "ovn-k8s-cni-overlay" }' },
    });
    await scene.kubernetes.create({
      kind: 'Pod',
      metadata: {
        name: 'pod-early',
        annotations: {
          'kubernetes.v1.cni.cncf.io/networks': '[{ "name": "ovn-network", "interfaceRequest": "eth1"}]',
        },
      },
      spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'box', image: 'box' }] },
    });
    expect(await waitForAnswer(scene, 'pod-early', 'ovn')).to.have.property('gateway_ip', '172.16.25.1');
  });

  it('a Pod whose second interface cannot be served gets no answer, and an Event with the remedy', async () => {
    await makePod(scene, 'half', '', requestOf('ovn-ls-25', 'ovn-ls-27'));
    await waitForEvent(
      scene,
      'half',
      'PodNetworkUpdateFailed',
      /network ovn-ls-27: there is no Subnet ovn-ls-27: create/,
    );
    const { metadata } = await scene.kubernetes.get('Pod', 'half');
    expect(metadata.annotations).to.not.have.property('ovnIfaceList');
    await makeSubnet(scene, 'ovn-ls-27', { cidrBlock: '172.16.27.0/24', provider });
    expect(await waitForAnswer(scene, 'half', 'ovnIfaceList')).to.have.length(2);
  });

  it('a Network becomes a Subnet that serves Pods, and both stay while a Pod has an address', async () => {
    const { kubernetes } = scene;
    const range = {
      name: 'a',
      subnet: '172.16.44.0/24',
      gateway: '172.16.44.1/24',
      excludeIps: '172.16.44.2..172.16.44.9',
    };
    await kubernetes.create({
      kind: 'Network',
      metadata: { name: 'ovn-priv-net' },
      spec: { cniType: 'ovn4nfv', ipv4Subnets: [range] },
    });
    await eventually(async () =>
      expect((await kubernetes.get('Network', 'ovn-priv-net')).status).to.have.property('state', 'Created'),
    );
    await makePod(scene, 'of-network', '', requestOf('ovn-priv-net'));
    const [net0] = (await waitForAnswer(scene, 'of-network', 'ovnIfaceList')) as Record<string, string>[];
    expect(net0).to.include({ ip_address: '172.16.44.10/24', gateway_ip: '172.16.44.1' });
    await kubernetes.remove('Network', 'ovn-priv-net');
    await waitForEvent(scene, 'ovn-priv-net', 'SubnetInUse', /stays while its addresses are in use: delete the Pods/);
    await kubernetes.remove('Pod', 'of-network');
    await eventually(async () => {
      const left = [...(await kubernetes.list('Network')), ...(await kubernetes.list('Subnet'))];
      expect(left.map(({ metadata }) => metadata.name)).to.not.include('ovn-priv-net');
    });
  });

  it('the Pod web-10 keeps its addresses when web-1 is deleted', async () => {
    await makePod(scene, 'web-1', '', requestOf('ovn-ls-25', 'ovn-ls-26'));
    await makePod(scene, 'web-10', '', requestOf('ovn-ls-25', 'ovn-ls-26'));
    const ofWeb10 = await waitForAnswer(scene, 'web-10', 'ovnIfaceList');
    await waitForAnswer(scene, 'web-1', 'ovnIfaceList');
    await scene.kubernetes.remove('Pod', 'web-1');
    await eventually(async () => {
      const names = (await scene.kubernetes.list('IP')).map(({ metadata }) => metadata.name);
      expect(names.filter((name) => name.startsWith('web-1.'))).to.deep.equal([]);
      expect(names.filter((name) => name.startsWith('web-10.'))).to.have.length(2);
    });
    expect(await waitForAnswer(scene, 'web-10', 'ovnIfaceList')).to.deep.equal(ofWeb10);
  });
});

/** Waits until the IP object of a Pod shows the address. */
function waitForIpObject({ kubernetes }: TestEnvironment, pod: string, address: string): Promise<void> {
  return eventually(async () => {
    const ips = await kubernetes.list('IP');
    const own = ips.find(({ metadata }) => metadata.name.startsWith(`${pod}.`)) as
      { spec?: { ipAddress?: string } } | undefined;
    expect(own?.spec?.ipAddress).to.equal(address);
  });
}
