import { expect } from 'chai';
import { plan } from './plan.fixture.ts';
import { cannotAsk } from './why.ts';

const networks = ['attachnet', 'attachnet@net1', 'attachnet,attachnet', 'attachnet@net1,attachnet@net2'];
const providers = ['attachnet.default.ovn', 'attachnet.default.ovn.net1'];

describe('values of annotations of a Kube-OVN-type network', () => {
  for (const network of networks)
    for (const provider of providers)
      for (const [suffix, wrong] of [
        ['ip_family', 'IPv4'],
        ['egress_rate', 'fast'],
      ] as const)
        it(`${network}: ${provider}.kubernetes.io/${suffix} is checked, and its error is stated once`, () => {
          const key = `${provider}.kubernetes.io/${suffix}`;
          const refused = plan(network, { [key]: wrong });
          expect(refused.attachments).to.deep.equal([]);
          const { reason, message } = cannotAsk(refused);
          expect(reason).to.equal('ValidatePodNetworkFailed');
          expect(message.split(`${wrong} is not a valid ${key}`)).to.have.length(2);
          expect(message).not.to.contain('nothing is allocated until');
        });

  it('keys of other providers, and of interfaces of other plugins, are not checked', () => {
    for (const provider of ['other.default.ovn', 'attachnet.default.ovn.a.b', 'macvlan.default.net1', 'ovn'])
      expect(plan('macvlan,attachnet', { [`${provider}.kubernetes.io/ip_family`]: 'IPv4' }).problems).to.deep.equal([]);
  });

  it('the family under the key of an interface is the one of that NIC alone', () => {
    const { attachments } = plan('attachnet@net1,attachnet@net2', {
      'attachnet.default.ovn.net2.kubernetes.io/ip_family': 'ipv6',
    });
    expect(attachments.map(({ ipFamily }) => ipFamily)).to.deep.equal(['', 'ipv6']);
  });
});
