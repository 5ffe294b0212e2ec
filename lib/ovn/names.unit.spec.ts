import { expect } from 'chai';
import fc from 'fast-check';
import { logicalPortName, type PortAttachment } from './names.ts';

const label = fc.stringMatching(/^[a-z0-9]{1,3}$/);
const attachment: fc.Arbitrary<PortAttachment> = fc.record({
  pod: fc
    .array(fc.oneof(label, fc.constantFrom('ovn', '1')), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('.')),
  namespace: fc.oneof(label, fc.constantFrom('ovn', '1')),
  provider: fc.oneof(
    fc.constant('ovn'),
    fc.tuple(label, label).map(([name, namespace]) => `${name}.${namespace}.ovn`),
  ),
  ordinal: fc.nat(2),
});

describe('The name of a logical port', () => {
  it('The name of a logical port has Kube-OVN’s form for a Pod with one NIC of a network', () => {
    const port = { namespace: 'default', pod: 'web-0', provider: 'attachnet.default.ovn' };
    expect(logicalPortName({ ...port, ordinal: 0 })).to.equal('web-0.default.attachnet.default.ovn');
    expect(logicalPortName({ ...port, ordinal: 1 })).to.equal('web-0.default.attachnet.default.ovn.1');
  });

  it('each attachment has a different name, even if Pod names contain dots', () => {
    const names = new Map<string, string>();
    fc.assert(
      fc.property(attachment, (each) => {
        const name = logicalPortName(each);
        const identity = JSON.stringify([each.pod, each.namespace, each.provider, each.ordinal]);
        expect(names.get(name) ?? identity).to.equal(identity);
        names.set(name, identity);
      }),
      { numRuns: 3_000 },
    );
  });
});
