import { expect } from 'chai';
import fc from 'fast-check';
import { ipName, isSubdomain, wholeIpName } from './ip-name.ts';

const named = (provider: string, ordinal = 0, pod = 'p') => ipName({ pod, namespace: 'ns', provider, ordinal });

describe('the name of an IP object', () => {
  it('KO-1205 is made of Pod, namespace and provider, and of the ordinal of a further attachment', () => {
    expect(named('ovn')).to.equal('p.ns');
    expect(named('')).to.equal('p.ns');
    expect(named('macvlan.default')).to.equal('p.ns.macvlan.default');
    expect(named('net.default.ovn.net1')).to.equal('p.ns.net.default.ovn.net1');
    expect(named('macvlan.default', 1)).to.equal('p.ns.macvlan.default.1');
  });

  it('is whole up to 253 characters; of a longer one the beginning, and a hash of all', () => {
    const fitting = 'p'.repeat(253 - '.ns.macvlan.default'.length);
    expect(named('macvlan.default', 0, fitting)).to.equal(`${fitting}.ns.macvlan.default`);
    const longest = named('macvlan.default', 0, 'p'.repeat(253));
    expect(longest).to.match(/^p{220}-[0-9a-f]{32}$/);
    expect(longest).to.equal(named('macvlan.default', 0, 'p'.repeat(253)));
    expect(longest).not.to.equal(named('macvlan.default', 1, 'p'.repeat(253)));
    expect(longest).not.to.equal(named('other.default', 0, 'p'.repeat(253)));
  });

  it('has no letter that Kubernetes does not take, and tells apart those that had', () => {
    expect(named('Physical_Net')).to.match(/^p\.ns\.physical-net-[0-9a-f]{32}$/);
    expect(named('Physical_Net')).not.to.equal(named('physical_net'));
  });

  it('is one that Kubernetes takes, whatever the provider; and each attachment has its own', () => {
    const pod = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,200}[a-z0-9])?(\.[a-z0-9]{1,40})?$/);
    const attached = fc.record({
      pod,
      namespace: fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
      provider: fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[a-z]{1,200}\.[a-z]{1,63}$/)),
      ordinal: fc.nat(30),
    });
    fc.assert(
      fc.property(attached, attached, (one, other) => {
        expect(isSubdomain(ipName(one)), ipName(one)).to.equal(true);
        expect(ipName(one) === ipName(other)).to.equal(wholeIpName(one) === wholeIpName(other));
      }),
    );
  });
});
