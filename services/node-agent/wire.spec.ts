import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { Allocation } from '../../proto/ipledger.ts';
import { answerAdd, answerError, type CniRequest, defaultFamily, faultOf, parseRequest } from './wire.ts';

const sent = {
  cni_type: 'macvlan',
  pod_name: 'p',
  pod_namespace: 'default',
  container_id: 'c1',
  net_ns: '/var/run/netns/x',
  if_name: 'net1',
  provider: 'macvlan.default',
  routes: null as unknown,
  dns: {},
  vf_driver: '',
  deviceID: '',
  vhost_user_socket_volume_name: '',
  vhost_user_socket_name: '',
  vhost_user_socket_consumption: '',
};

const parsed = (changes: object = {}): CniRequest => parseRequest('add', JSON.stringify({ ...sent, ...changes }));

const v4 = { address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' };
const v6 = { address: 'fd00::b', cidr: 'fd00::/64', gateway: 'fd00::1' };

const allocation = (changes: Partial<Allocation> = {}): Allocation => ({
  seq: 7,
  podUid: 'u-1',
  node: '',
  subnet: 'macvlan',
  addresses: [v4],
  mac: '',
  interface: '',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  routes: [],
  at: '',
  bindings: [],
  network: 'macvlan.default',
  ...changes,
});

describe('a request on the daemon socket', () => {
  it('is read as Kube-OVN’s plugin sends it', () => {
    expect(parsed()).to.deep.equal({
      cniType: 'macvlan',
      podName: 'p',
      podNamespace: 'default',
      containerId: 'c1',
      netns: '/var/run/netns/x',
      interface: 'net1',
      provider: 'macvlan.default',
      routes: [],
      podUid: '',
    });
  });

  it('may carry routes with parts left out, a Pod uid, and fields that nobody knows', () => {
    const request = parsed({ routes: [{ gw: '10.0.0.1' }, { dst: '10.0.0.0/8' }], pod_uid: 'u-1', tomorrow: [1] });
    expect(request.routes).to.deep.equal([
      { dst: '', gw: '10.0.0.1' },
      { dst: '10.0.0.0/8', gw: '' },
    ]);
    expect(request).to.include({ podUid: 'u-1' }).and.not.have.property('tomorrow');
  });

  it('takes a missing interface for eth0, a missing provider for ovn, a missing namespace for one that is gone', () => {
    const request = parsed({ if_name: '', provider: undefined, net_ns: null });
    expect(request).to.include({ interface: 'eth0', provider: 'ovn', netns: '' });
  });

  it('names the provider without the interface that tells NICs of one network apart', () => {
    expect(parsed({ provider: 'net.default.ovn.net1' }).provider).to.equal('net.default.ovn');
    expect(parsed({ provider: 'net.default.ovn.net2' }).provider).to.equal('net.default.ovn.net2');
    // a network in a namespace that is called like the interface
    expect(parsed({ provider: 'macvlan.net1' }).provider).to.equal('macvlan.net1');
    expect(parsed({ provider: 'ovn' }).provider).to.equal('ovn');
  });

  it('is refused when it can’t be read, with the field that is wrong', () => {
    const refusals: [string, RegExp][] = [
      ['', /^parse del request failed: the body is empty$/],
      ['{', /^parse del request failed: SyntaxError/],
      ['[]', /^parse del request failed: body: /],
      [JSON.stringify({ ...sent, pod_name: '' }), /^parse del request failed: pod_name: /],
      [JSON.stringify({ ...sent, container_id: undefined }), /^parse del request failed: container_id: /],
      [JSON.stringify({ ...sent, routes: [{ dst: 1 }] }), /^parse del request failed: routes\.0\.dst: /],
      [JSON.stringify({ ...sent, provider: 'x'.repeat(2000) }), /^parse del request failed: provider: /],
    ];
    for (const [body, message] of refusals)
      expect(() => parseRequest('del', body), body.slice(0, 40))
        .to.throw(IpledgerError, message)
        .with.property('httpStatus', 400);
  });
});

describe('the answer to ADD, byte by byte', () => {
  it('gives a secondary interface its address and no gateway, in both shapes', () => {
    expect(answerAdd(parsed(), allocation())).to.equal(
      '{"ips":[{"protocol":"IPv4","ip":"172.17.0.11","cidr":"172.17.0.0/16"}],' +
        '"protocol":"IPv4","address":"172.17.0.11","mac_address":"","cidr":"172.17.0.0/16","gateway":"",' +
        '"routes":null,"mtu":0,"nicname":"","dns":{},"error":""}',
    );
  });

  it('gives eth0 the gateway', () => {
    expect(answerAdd(parsed({ if_name: 'eth0' }), allocation())).to.equal(
      '{"ips":[{"protocol":"IPv4","ip":"172.17.0.11","cidr":"172.17.0.0/16","gateway":"172.17.0.1"}],' +
        '"protocol":"IPv4","address":"172.17.0.11","mac_address":"","cidr":"172.17.0.0/16","gateway":"172.17.0.1",' +
        '"routes":null,"mtu":0,"nicname":"","dns":{},"error":""}',
    );
  });

  it('joins two families with commas in the flat shape', () => {
    expect(answerAdd(parsed({ if_name: '' }), allocation({ addresses: [v4, v6] }))).to.equal(
      '{"ips":[{"protocol":"IPv4","ip":"172.17.0.11","cidr":"172.17.0.0/16","gateway":"172.17.0.1"},' +
        '{"protocol":"IPv6","ip":"fd00::b","cidr":"fd00::/64","gateway":"fd00::1"}],' +
        '"protocol":"Dual","address":"172.17.0.11,fd00::b","mac_address":"","cidr":"172.17.0.0/16,fd00::/64",' +
        '"gateway":"172.17.0.1,fd00::1","routes":null,"mtu":0,"nicname":"","dns":{},"error":""}',
    );
  });

  it('puts the network’s routes before the Pod’s, and leaves out what is empty', () => {
    const request = parsed({ routes: [{ dst: '10.0.0.0/8', gw: '172.17.0.253' }, { gw: '172.17.0.1' }] });
    const pods = [
      { dst: '19.10.0.7/16', gw: '172.17.0.254' },
      { dst: '8.8.8.8/32', gw: '' },
    ];
    expect(answerAdd(request, allocation({ routes: pods }))).to.contain(
      '"routes":[{"dst":"10.0.0.0/8","gw":"172.17.0.253"},{"gw":"172.17.0.1"},' +
        '{"dst":"19.10.0.7/16","gw":"172.17.0.254"},{"dst":"8.8.8.8/32"}],"mtu":0',
    );
  });

  it('follows what the Pod says of the default route, whatever the interface is called', () => {
    expect(answerAdd(parsed({ if_name: 'eth0' }), allocation({ defaultRoute: false }))).to.not.contain('172.17.0.1"');
    expect(answerAdd(parsed(), allocation({ defaultRoute: true }))).to.contain('"gateway":"172.17.0.1"}]');
  });

  it('says an error in the same form', () => {
    expect(answerError(new IpledgerError('NOT_ALLOCATED', 'no address'))).to.equal(
      '{"ips":null,"protocol":"","address":"","mac_address":"","cidr":"","gateway":"","routes":null,"mtu":0,' +
        '"nicname":"","dns":{},"error":"no address"}',
    );
  });

  it('tells the plugin of an error that no later try can heal', () => {
    expect(JSON.parse(answerError(new IpledgerError('NOT_IMPLEMENTED', 'never')))).to.include({ cni_code: 100 });
  });
});

describe('a route', () => {
  it('may lack either end and may have host bits', () => {
    for (const route of [
      { dst: '', gw: '10.0.0.1' },
      { dst: '10.0.0.7/8', gw: '' },
      { dst: '::/0', gw: 'fd00::1' },
      { dst: '', gw: '' },
    ])
      expect(faultOf(route), JSON.stringify(route)).to.equal(undefined);
  });

  it('is faulty with anything but a CIDR and an address', () => {
    for (const dst of [
      '10.0.0.0',
      '10.0.0.0/33',
      '10.0.0/8',
      'fd00::/129',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      'fe80::1%eth0/64',
    ])
      expect(faultOf({ dst, gw: '' }), dst).to.equal(`dst "${dst}" is no CIDR`);
    for (const gw of ['here', '10.0.0.1/8', '010.0.0.1', 'fe80::1%eth0'])
      expect(faultOf({ dst: '', gw }), gw).to.equal(`gw "${gw}" is no IP address`);
  });

  it('is a default route without a destination, or with one of length 0', () => {
    expect(defaultFamily({ dst: '', gw: '10.0.0.1' })).to.equal(4);
    expect(defaultFamily({ dst: '', gw: 'fd00::1' })).to.equal(6);
    expect(defaultFamily({ dst: '0.0.0.0/0', gw: '' })).to.equal(4);
    expect(defaultFamily({ dst: '::/0', gw: '' })).to.equal(6);
    expect(defaultFamily({ dst: '10.0.0.0/8', gw: '10.0.0.1' })).to.equal(undefined);
    expect(defaultFamily({ dst: '10.0.0.0/30', gw: '' })).to.equal(undefined);
  });
});
