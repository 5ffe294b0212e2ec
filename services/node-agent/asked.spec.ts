import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { parseAsked, type Verb } from './asked.ts';

const pod = { pod_name: 'p', pod_namespace: 'default', container_id: 'c1', if_name: 'net1', provider: 'a.b' };

function fault(verb: Verb, body: object): string {
  try {
    parseAsked(verb, JSON.stringify(body));
    return '';
  } catch (error) {
    expect(error).to.be.instanceOf(IpledgerError).with.property('httpStatus', 400);
    return (error as IpledgerError).message;
  }
}

describe('what the plugin asks', () => {
  it('of a container is read in one way, for CHECK with the addresses that it remembers', () => {
    for (const verb of ['add', 'del'] as const)
      expect(parseAsked(verb, JSON.stringify(pod)))
        .to.deep.include({ verb })
        .and.have.nested.property('request.podName', 'p');
    const asked = parseAsked('check', JSON.stringify({ ...pod, addresses: ['10.0.0.2/24'] }));
    expect(asked).to.deep.include({ verb: 'check', addresses: ['10.0.0.2/24'] });
    expect(asked).to.have.nested.property('request.interface', 'net1');
    expect(fault('check', pod)).to.match(/^parse check request failed: addresses: /);
  });

  it('of all its containers is a list, which may be empty and must not be missing', () => {
    const attachments = [{ container_id: 'c1', if_name: 'net1' }];
    expect(parseAsked('gc', JSON.stringify({ cni_type: 'macvlan', provider: 'a.b', attachments }))).to.deep.equal({
      verb: 'gc',
      provider: 'a.b',
      valid: [{ containerId: 'c1', interface: 'net1' }],
    });
    expect(parseAsked('gc', '{"provider":"a.b","attachments":[]}')).to.deep.include({ valid: [] });
    expect(fault('gc', { provider: 'a.b' })).to.match(/attachments/);
    expect(fault('gc', { provider: 'a.b', attachments: null })).to.match(/attachments/);
    expect(fault('gc', { provider: '', attachments })).to.match(/provider/);
  });

  it('has limits', () => {
    const many = (count: number, item: unknown): unknown[] => Array.from({ length: count }, () => item);
    expect(fault('gc', { provider: 'a.b', attachments: many(10_001, { container_id: 'c', if_name: 'i' }) })).to.match(
      /attachments/,
    );
    expect(fault('check', { ...pod, addresses: many(65, '10.0.0.2/24') })).to.match(/addresses/);
    for (const name of ['a/b', 'a:b', 'a b', '..', 'sixteen-letters-'])
      expect(fault('add', { ...pod, if_name: name }), name).to.match(
        /^parse add request failed: if_name: no interface/,
      );
  });

  it('has a length for each field, and names no more than four faults', () => {
    const lengths = { cni_type: 256, pod_name: 253, pod_namespace: 63, container_id: 128, provider: 512, pod_uid: 128 };
    for (const [field, most] of Object.entries(lengths)) {
      expect(fault('del', { ...pod, [field]: 'x'.repeat(most) }), field).to.equal('');
      expect(fault('del', { ...pod, [field]: 'x'.repeat(most + 1) })).to.match(
        new RegExp(`^parse del request failed: ${field}: `),
      );
    }
    expect(fault('add', { ...pod, net_ns: `/${'x'.repeat(1024)}` })).to.match(/net_ns/);
    expect(fault('add', { ...pod, net_ns: 'proc/self/ns/net' })).to.match(/net_ns: no absolute path/);
    expect(fault('add', { ...pod, routes: [{ dst: 'x'.repeat(65) }] })).to.match(/routes\.0\.dst/);
    expect(fault('check', { ...pod, addresses: ['x'.repeat(65)] })).to.match(/addresses\.0/);
    for (const container of ['', '../../etc/x', '.hidden', 'a b', 'a\0b'])
      expect(fault('del', { ...pod, container_id: container }), container).to.match(/container_id: /);
    const attachments = Array.from({ length: 10_000 }, () => ({ container_id: '/', if_name: 'net1' }));
    expect(fault('gc', { provider: 'a.b', attachments })).to.match(/; and 9996 more$/);
  });

  it('of the agent itself needs no words', () => {
    expect(parseAsked('status', '{}')).to.deep.equal({ verb: 'status' });
  });
});
