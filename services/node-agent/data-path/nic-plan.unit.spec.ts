import { expect } from 'chai';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { allocation, request } from '../testing/fakes.ts';
import { DataPathError } from './data-path-error.ts';
import { hostLinkName, parseLinkNames } from './host-link.ts';
import { planNic } from './nic-plan.ts';
import { type NicSettings, readRateLimit } from './nic-settings.ts';

const settings: NicSettings = {
  mtu: 1_400,
  isUnderlay: false,
  providerNetwork: '',
  isGatewayCheckDisabled: false,
  ingress: undefined,
  egress: undefined,
};
const allocated = (changes: Partial<Allocation> = {}): Allocation => ({
  ...allocation,
  attachment: { namespace: 'default', pod: 'p', provider: 'lan.default.ovn', ordinal: 0 },
  subnet: 'lan',
  mac: '02:00:00:00:00:AB',
  addresses: [
    { address: '172.17.0.11', cidr: '172.17.0.0/24', gateway: '172.17.0.1' },
    { address: 'fd17::b', cidr: 'fd17::/64', gateway: 'fd17::1' },
  ],
  ...changes,
});
const ovnRequest = (changes: object = {}) =>
  request({ cni_type: 'kube-ovn', provider: 'lan.default.ovn', container_id: '0123456789abcdef', ...changes });
const plan = (changes: Partial<Allocation> = {}, requested: object = {}, set: Partial<NicSettings> = {}) =>
  planNic(ovnRequest(requested), allocated(changes), { ...settings, ...set });

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(error).to.be.instanceOf(DataPathError).with.property('reason', 'settings');
    return (error as Error).message;
  }
  throw new Error('it did not fail');
};

describe('The plan of a NIC', () => {
  it('The plan of a NIC has the names, addresses and MAC of the allocation', () => {
    expect(plan()).to.include({
      hostLink: '01234567_net1_h',
      logicalPort: 'p.default.lan.default.ovn',
      mac: '02:00:00:00:00:ab',
      mtu: 1_400,
      localnetPatch: undefined,
      requiresGateway: true,
    });
    expect(plan().addresses).to.deep.equal(['172.17.0.11/24', 'fd17::b/64']);
    expect(plan().gateways).to.deep.equal(['172.17.0.1', 'fd17::1']);
  });

  it('The plan of a NIC waits for the patch port of a physical network, and requires no gateway whose check is disabled', () => {
    expect(plan({}, {}, { isUnderlay: true, isGatewayCheckDisabled: true })).to.include({
      localnetPatch: 'patch-localnet.lan-to-br-int',
      requiresGateway: false,
    });
  });

  it('The plan of a NIC has default routes on eth0, or where the Pod requests them, and nowhere else', () => {
    const defaults = [
      { dst: '0.0.0.0/0', gw: '172.17.0.1' },
      { dst: '::/0', gw: 'fd17::1' },
    ];
    expect(plan().routes).to.deep.equal([]);
    expect(plan({}, { if_name: 'eth0' }).routes).to.deep.equal(defaults);
    expect(plan({ defaultRoute: false }, { if_name: 'eth0' }).routes).to.deep.equal([]);
    expect(plan({ defaultRoute: true })).to.deep.include({ routes: defaults, replacedDefaults: [4, 6] });
  });

  it('The plan of a NIC has the Pod’s routes without host bits, and the Subnet’s default route only for the other family', () => {
    const routes = [
      { dst: '192.168.0.101/24', gw: '172.17.0.254' },
      { dst: '', gw: '172.17.0.254' },
      { dst: 'fd99::1/32', gw: '' },
    ];
    expect(plan({ defaultRoute: true, routes }).routes).to.deep.equal([
      { dst: '192.168.0.0/24', gw: '172.17.0.254' },
      { dst: '0.0.0.0/0', gw: '172.17.0.254' },
      { dst: 'fd99:0:0:0:0:0:0:0/32', gw: '' },
      { dst: '::/0', gw: 'fd17::1' },
    ]);
  });

  it('The plan of a NIC is refused if a value could end or split a command', () => {
    expect(messageOf(() => plan({}, { net_ns: '/run/netns/a b' }))).to.contain('network namespace');
    expect(messageOf(() => plan({}, { if_name: '$(id)' }))).to.contain('cannot be used');
    expect(messageOf(() => plan({}, { if_name: 'all' }))).to.contain('cannot be used');
    expect(messageOf(() => plan({ mac: '' }))).to.contain('no complete NIC');
    expect(messageOf(() => plan({ routes: [{ dst: 'x', gw: '' }] }))).to.contain('is no CIDR');
  });

  it('The plan of a NIC is refused with an MTU that IPv6 does not permit', () => {
    expect(messageOf(() => plan({}, {}, { mtu: 1_279 }))).to.contain('below the minimum of 1280');
    const addresses = allocated().addresses.slice(0, 1);
    expect(plan({ addresses }, {}, { mtu: 1_279 }).mtu).to.equal(1_279);
  });
});

describe('The link on the node', () => {
  it('The link on the node has Kube-OVN’s name of at most 15 characters', () => {
    const name = (interfaceName: string) => hostLinkName({ containerId: '0123456789abcdef', interface: interfaceName });
    expect([name('eth0'), name('net1234567'), name('net12345678')]).to.deep.equal([
      '01234567_eth0_h',
      '01_net1234567_h',
      '0_net12345678_h',
    ]);
    expect(messageOf(() => name('net123456789'))).to.contain('too long');
  });

  it('The link on the node is among the names that the kernel lists', () => {
    const text = 'Inter-|   Receive\n face |bytes\n    lo: 9 0\n01234567_eth0_h:123 4\n';
    expect([...parseLinkNames(text)]).to.deep.equal(['lo', '01234567_eth0_h']);
  });
});

describe('The rate of a NIC', () => {
  const nic = { provider: 'lan.default.ovn', interface: 'net1' };
  const rate = (annotations: Record<string, string>) => readRateLimit(annotations, nic, 'ingress');

  it('The rate of a NIC is that of its interface, else that of its provider, else unlimited', () => {
    const ofProvider = {
      'lan.default.ovn.kubernetes.io/ingress_rate': '30',
      'lan.default.ovn.kubernetes.io/ingress_burst': '4',
    };
    expect(rate(ofProvider)).to.deep.equal({ kbps: 30_000, burstKb: 4_000 });
    expect(rate({ ...ofProvider, 'lan.default.ovn.net1.kubernetes.io/ingress_rate': '0.5' })).to.include({ kbps: 500 });
    expect(rate({})).to.equal(undefined);
    expect(rate({ 'lan.default.ovn.kubernetes.io/ingress_rate': '0' })).to.equal(undefined);
  });

  it('The rate of a NIC is refused unless it is a number up to the limit', () => {
    for (const text of ['-1', '1e9', '1000001', '0x10', ' 1', '9'.repeat(100)])
      expect(messageOf(() => rate({ 'lan.default.ovn.kubernetes.io/ingress_rate': text }))).to.contain('from 0 to');
  });
});
