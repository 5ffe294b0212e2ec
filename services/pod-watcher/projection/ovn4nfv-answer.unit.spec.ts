import { expect } from 'chai';
import { heldAllocation, podNamed } from '../testing/fakes.ts';
import { podPatch } from './pod-annotations.ts';

const never = (): undefined => undefined;
const provider = 'ovn4nfv.kube-system.ovn';
const addressIn = (third: number, host: number) => ({
  address: `172.16.${third}.${host}`,
  cidr: `172.16.${third}.0/24`,
  gateway: `172.16.${third}.1`,
});
const nic = (ordinal: number, more: object = {}) =>
  heldAllocation('a', {
    seq: ordinal + 1,
    provider,
    ordinal,
    interface: `net${ordinal}`,
    mac: `0a:00:00:00:00:0${ordinal}`,
    addresses: [addressIn(25 + ordinal, 3)],
    ...more,
  });
const interfaces = [
  { name: 'ovn-ls-25', interface: 'net0' },
  { name: 'ovn-ls-26', interface: 'net1', defaultGateway: 'true' },
];
const ovnNetwork = JSON.stringify(interfaces);
const nfn = JSON.stringify({ type: 'ovn4nfv', interface: interfaces });

function answersOf(annotations: Record<string, string>, allocations = [nic(0), nic(1)]): Record<string, unknown> {
  const { patch } = podPatch(podNamed('a', { annotations }), allocations, never);
  const written = Object.entries(patch?.metadata.annotations ?? {}).filter(([key]) => !key.includes('.kubernetes.io/'));
  return Object.fromEntries(written.map(([key, value]) => [key, JSON.parse(value ?? 'null') as unknown]));
}

describe('The answer to an OVN4NFV request', () => {
  it('The answer to ovnNetwork is ovnIfaceList, in the order of the request', () => {
    expect(answersOf({ ovnNetwork }, [nic(1), nic(0)])).to.deep.equal({
      ovnIfaceList: [
        {
          ip_address: '172.16.25.3/24',
          mac_address: '0a:00:00:00:00:00',
          gateway_ip: '172.16.25.1',
          defaultGateway: 'false',
          interface: 'net0',
        },
        {
          ip_address: '172.16.26.3/24',
          mac_address: '0a:00:00:00:00:01',
          gateway_ip: '172.16.26.1',
          defaultGateway: 'true',
          interface: 'net1',
        },
      ],
    });
  });

  it('The answer to nfn-network is ovnInterfaces, with lists of addresses', () => {
    expect(answersOf({ 'k8s.plugin.opnfv.org/nfn-network': nfn }))
      .to.have.property('k8s.plugin.opnfv.org/ovnInterfaces')
      .with.nested.property('[1]')
      .that.deep.equals({
        ip_address: ['172.16.26.3/24'],
        mac_address: '0a:00:00:00:00:01',
        gateway_ip: ['172.16.26.1'],
        defaultGateway: 'true',
        interface: 'net1',
      });
  });

  it('The answer to ovn replaces that annotation, and is not written again', () => {
    const answer = { ip_address: '172.16.25.3/24', mac_address: '0a:00:00:00:00:00', gateway_ip: '172.16.25.1' };
    expect(answersOf({ ovn: '{}' }, [nic(0)])).to.deep.equal({ ovn: answer });
    expect(answersOf({ ovn: JSON.stringify(answer) }, [nic(0)])).to.deep.equal({});
  });

  it('The answer to a Pod without a request is the annotation ovn', () => {
    expect(answersOf({}, [nic(0)])).to.have.property('ovn');
  });

  it('The answer to an OVN4NFV request is not written while the Pod has only some of the NICs', () => {
    expect(answersOf({ ovnNetwork }, [nic(0)])).to.deep.equal({});
  });

  it('The answer to an OVN4NFV request stays as it was when the request is changed later', () => {
    for (const changed of [
      '{malformed',
      JSON.stringify([interfaces[1], interfaces[0]]),
      JSON.stringify([interfaces[0]]),
    ])
      expect(answersOf({ ovnNetwork: changed }), changed).to.deep.equal({});
  });

  it('The answer to an OVN4NFV request has the requested gateway instead of the Subnet’s gateway', () => {
    const request = { type: 'ovn4nfv', interface: [{ ...interfaces[0], gwipaddress: '172.16.25.254' }] };
    const answers = answersOf({ 'k8s.plugin.opnfv.org/nfn-network': JSON.stringify(request) }, [nic(0)]);
    expect(answers).to.have.nested.property(
      'k8s\\.plugin\\.opnfv\\.org/ovnInterfaces[0].gateway_ip[0]',
      '172.16.25.254',
    );
  });

  it('The answer to an OVN4NFV request has both families, IPv4 first', () => {
    const dual = [addressIn(25, 3), { address: 'fd00::3', cidr: 'fd00::/64', gateway: 'fd00::1' }];
    const answer = {
      ip_address: '172.16.25.3/24,fd00::3/64',
      mac_address: '0a:00:00:00:00:00',
      gateway_ip: '172.16.25.1,fd00::1',
    };
    expect(answersOf({ ovn: '{}' }, [nic(0, { addresses: dual })])).to.deep.equal({ ovn: answer });
    expect(answersOf({ ovn: JSON.stringify(answer) }, [nic(0, { addresses: dual })])).to.deep.equal({});
  });

  it('The answer to an OVN4NFV request does not include allocations of an earlier Pod of the same name', () => {
    expect(answersOf({ ovnNetwork }, [nic(0), nic(1, { uid: 'earlier' })])).to.deep.equal({});
  });
});
