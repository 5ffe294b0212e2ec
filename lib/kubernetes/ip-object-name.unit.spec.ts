import { expect } from 'chai';
import fc from 'fast-check';
import { fullIpObjectName, ipObjectName, isDnsSubdomain, podsOfFullName } from './ip-object-name.ts';

const named = (provider: string, ordinal = 0, pod = 'p') => ipObjectName({ pod, namespace: 'ns', provider, ordinal });

describe('Name of an IP object', () => {
  it('KO-1205 consists of Pod, namespace, provider, and the ordinal of a further attachment', () => {
    expect(named('ovn')).to.equal('p.ns');
    expect(named('')).to.equal('p.ns');
    expect(named('macvlan.default')).to.equal('p.ns.macvlan.default');
    expect(named('net.default.ovn.net1')).to.equal('p.ns.net.default.ovn.net1');
    expect(named('macvlan.default', 1)).to.equal('p.ns.macvlan.default.1');
  });

  it('the name is complete up to 253 characters, and else a beginning with a hash of the complete name', () => {
    const fitting = 'p'.repeat(253 - '.ns.macvlan.default'.length);
    expect(named('macvlan.default', 0, fitting)).to.equal(`${fitting}.ns.macvlan.default`);
    const longest = named('macvlan.default', 0, 'p'.repeat(253));
    expect(longest).to.match(/^p{220}-[0-9a-f]{32}$/);
    expect(longest).to.equal(named('macvlan.default', 0, 'p'.repeat(253)));
    expect(longest).not.to.equal(named('macvlan.default', 1, 'p'.repeat(253)));
    expect(longest).not.to.equal(named('other.default', 0, 'p'.repeat(253)));
  });

  it('podsOfFullName returns the Pods that a name may belong to', () => {
    expect([...podsOfFullName('a.ns.net.default')]).to.deep.equal(['ns/a', 'net/a.ns', 'default/a.ns.net']);
    expect([...podsOfFullName('a')]).to.deep.equal([]);
  });

  it('Name of an IP object replaces invalid characters, and stays distinct', () => {
    expect(named('Physical_Net')).to.match(/^p\.ns\.physical-net-[0-9a-f]{32}$/);
    expect(named('Physical_Net')).not.to.equal(named('physical_net'));
  });

  it('WB-293 is valid for any provider, and different for each attachment', () => {
    const pod = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,200}[a-z0-9])?(\.[a-z0-9]{1,40})?$/);
    const attached = fc.record({
      pod,
      namespace: fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
      provider: fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[a-z]{1,200}\.[a-z]{1,63}$/)),
      ordinal: fc.nat(30),
    });
    fc.assert(
      fc.property(attached, attached, (one, other) => {
        expect(isDnsSubdomain(ipObjectName(one)), ipObjectName(one)).to.equal(true);
        expect([...podsOfFullName(fullIpObjectName(one))]).to.include(`${one.namespace}/${one.pod}`);
        expect(ipObjectName(one) === ipObjectName(other)).to.equal(fullIpObjectName(one) === fullIpObjectName(other));
      }),
    );
  });
});
