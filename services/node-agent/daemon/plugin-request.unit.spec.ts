import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { parsePluginRequest, type Verb } from './plugin-request.ts';

const pod = { pod_name: 'p', pod_namespace: 'default', container_id: 'c1', if_name: 'net1', provider: 'a.b' };

function fault(verb: Verb, body: object): string {
  try {
    parsePluginRequest(verb, JSON.stringify(body));
    return '';
  } catch (error) {
    expect(error).to.be.instanceOf(IpledgerError).with.property('httpStatus', 400);
    return (error as IpledgerError).message;
  }
}

describe('Plugin request', () => {
  it('Plugin request has the container for ADD, DEL and CHECK, and the addresses of prevResult for CHECK', () => {
    for (const verb of ['add', 'del'] as const)
      expect(parsePluginRequest(verb, JSON.stringify(pod)))
        .to.deep.include({ verb })
        .and.have.nested.property('request.podName', 'p');
    const check = parsePluginRequest('check', JSON.stringify({ ...pod, addresses: ['10.0.0.2/24'] }));
    expect(check).to.deep.include({ verb: 'check', addresses: ['10.0.0.2/24'] });
    expect(check).to.have.nested.property('request.interface', 'net1');
    expect(fault('check', pod)).to.match(/^parse check request failed: addresses: /);
  });

  it('Plugin request has a list of attachments for GC, which may be empty but not missing', () => {
    const attachments = [{ container_id: 'c1', if_name: 'net1' }];
    expect(
      parsePluginRequest('gc', JSON.stringify({ cni_type: 'macvlan', provider: 'a.b', attachments })),
    ).to.deep.equal({
      verb: 'gc',
      provider: 'a.b',
      valid: [{ containerId: 'c1', interface: 'net1' }],
    });
    expect(parsePluginRequest('gc', '{"provider":"a.b","attachments":[]}')).to.deep.include({ valid: [] });
    expect(fault('gc', { provider: 'a.b' })).to.match(/attachments/);
    expect(fault('gc', { provider: 'a.b', attachments: null })).to.match(/attachments/);
    expect(fault('gc', { provider: '', attachments })).to.match(/provider/);
  });

  it('Plugin request is rejected when a list is too long or a name is invalid', () => {
    const many = (count: number, item: unknown): unknown[] => Array.from({ length: count }, () => item);
    expect(fault('gc', { provider: 'a.b', attachments: many(10_001, { container_id: 'c', if_name: 'i' }) })).to.match(
      /attachments/,
    );
    expect(fault('check', { ...pod, addresses: many(65, '10.0.0.2/24') })).to.match(/addresses/);
    for (const name of ['a/b', 'a:b', 'a b', '..', 'sixteen-letters-'])
      expect(fault('add', { ...pod, if_name: name }), name).to.match(
        /^parse add request failed: if_name: not an interface name/,
      );
  });

  it('Plugin request is rejected when a field is too long, with at most four faults', () => {
    const lengths = { cni_type: 256, pod_name: 253, pod_namespace: 63, container_id: 128, provider: 512, pod_uid: 128 };
    for (const [field, max] of Object.entries(lengths)) {
      expect(fault('del', { ...pod, [field]: 'x'.repeat(max) }), field).to.equal('');
      expect(fault('del', { ...pod, [field]: 'x'.repeat(max + 1) })).to.match(
        new RegExp(`^parse del request failed: ${field}: `),
      );
    }
    expect(fault('add', { ...pod, net_ns: `/${'x'.repeat(1024)}` })).to.match(/net_ns/);
    expect(fault('add', { ...pod, net_ns: 'proc/self/ns/net' })).to.match(/net_ns: not an absolute path/);
    expect(fault('add', { ...pod, routes: [{ dst: 'x'.repeat(65) }] })).to.match(/routes\.0\.dst/);
    expect(fault('check', { ...pod, addresses: ['x'.repeat(65)] })).to.match(/addresses\.0/);
    for (const container of ['', '../../etc/x', '.hidden', 'a b', 'a\0b'])
      expect(fault('del', { ...pod, container_id: container }), container).to.match(/container_id: /);
    const attachments = Array.from({ length: 10_000 }, () => ({ container_id: '/', if_name: 'net1' }));
    expect(fault('gc', { provider: 'a.b', attachments })).to.match(/; and 9996 more$/);
  });

  it('Plugin request has the CNI type for STATUS, if the plugin sends one', () => {
    expect(parsePluginRequest('status', '{"cni_type":"kube-ovn"}')).to.deep.equal({
      verb: 'status',
      cniType: 'kube-ovn',
    });
    for (const body of ['{}', '']) expect(parsePluginRequest('status', body)).to.include({ cniType: '' });
  });
});
