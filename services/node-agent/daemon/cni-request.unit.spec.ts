import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { type CniRequest, parseCniRequest } from './plugin-request.ts';

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

const parsed = (changes: object = {}): CniRequest => parseCniRequest('add', JSON.stringify({ ...sent, ...changes }));

describe('CNI request', () => {
  it('CNI request has the format of Kube-OVN’s plugin', () => {
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
      nfnNetwork: '',
      takesGateway: false,
    });
  });

  it('CNI request may have incomplete routes, a Pod uid, and unknown fields', () => {
    const request = parsed({ routes: [{ gw: '10.0.0.1' }, { dst: '10.0.0.0/8' }], pod_uid: 'u-1', tomorrow: [1] });
    expect(request.routes).to.deep.equal([
      { dst: '', gw: '10.0.0.1' },
      { dst: '10.0.0.0/8', gw: '' },
    ]);
    expect(request).to.include({ podUid: 'u-1' }).and.not.have.property('tomorrow');
  });

  it("CNI request has defaults: eth0 as interface, ovn as provider, and '' as namespace of a deleted sandbox", () => {
    const request = parsed({ if_name: '', provider: undefined, net_ns: null });
    expect(request).to.include({ interface: 'eth0', provider: 'ovn', netns: '' });
  });

  it('CNI request has the provider of its network, without the interface that Multus appends', () => {
    expect(parsed({ provider: 'net.default.ovn.net1' }).provider).to.equal('net.default.ovn');
    expect(parsed({ provider: 'net.default.ovn.net2' }).provider).to.equal('net.default.ovn.net2');
    // a network whose namespace has the name of the interface
    expect(parsed({ provider: 'macvlan.net1' }).provider).to.equal('macvlan.net1');
    expect(parsed({ provider: 'ovn' }).provider).to.equal('ovn');
  });

  it('CNI request is rejected with the name of the invalid field', () => {
    const invalid: [string, RegExp][] = [
      ['', /^parse del request failed: the body is empty$/],
      ['{', /^parse del request failed: SyntaxError/],
      ['[]', /^parse del request failed: body: /],
      [JSON.stringify({ ...sent, pod_name: '' }), /^parse del request failed: pod_name: /],
      [JSON.stringify({ ...sent, container_id: undefined }), /^parse del request failed: container_id: /],
      [JSON.stringify({ ...sent, routes: [{ dst: 1 }] }), /^parse del request failed: routes\.0\.dst: /],
      [JSON.stringify({ ...sent, provider: 'x'.repeat(2000) }), /^parse del request failed: provider: /],
    ];
    for (const [body, message] of invalid)
      expect(() => parseCniRequest('del', body), body.slice(0, 40))
        .to.throw(IpledgerError, message)
        .with.property('httpStatus', 400);
  });
});
