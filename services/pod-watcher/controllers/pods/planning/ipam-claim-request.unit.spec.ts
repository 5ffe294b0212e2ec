import { expect } from 'chai';
import { requestIpamClaimAddresses } from './ipam-claim-request.ts';
import { annotationKey, defaultRequest, planOf } from './testing/plan.fixture.ts';

const selection = (claim: string, more: object = {}): string =>
  JSON.stringify([{ name: 'macvlan', namespace: 'default', 'ipam-claim-reference': claim, ...more }]);
const problemsOf = ({ problems }: ReturnType<typeof planOf>): string => problems.map(({ text }) => text).join();

describe('a network selection that names an IPAMClaim', () => {
  it('a network selection that names an IPAMClaim requests its addresses, only in their Subnet and family', () => {
    // Given: an IPAMClaim has an IPv4 address in one of two Subnets. When: a Pod names it.
    const { attachments, ipamClaims, problems, topics } = planOf(selection('vm1'));
    // Then: the Pod requests that address with the IPAMClaim's reservation.
    expect([problems, ipamClaims]).to.deep.equal([[], []]);
    expect(attachments).to.deep.equal([
      {
        ...defaultRequest,
        subnets: ['macvlan-2'],
        candidates: [{ addresses: ['10.0.2.7'] }],
        ipFamily: 'ipv4',
        reservation: 'ipamclaim/default/vm1',
      },
    ]);
    expect(topics).to.include('claim:default/vm1');
  });

  it('a network selection that names a dual-stack IPAMClaim requests both addresses', () => {
    const { attachments } = planOf(selection('dual'));
    expect(attachments[0]).to.deep.include({ candidates: [{ addresses: ['10.0.1.7', 'fd00::7'] }], ipFamily: '' });
  });

  it('a network selection that names an IPAMClaim with only an IPv6 address requests no IPv4 address', () => {
    const { attachments } = planOf(selection('six'));
    expect(attachments[0]).to.deep.include({ candidates: [{ addresses: ['fd00::7'] }], ipFamily: 'ipv6' });
  });

  it('a network selection waits, and demands addresses, while its IPAMClaim is missing or has none', () => {
    const requested = { ips: ['10.0.1.9/24'], interface: 'net1' };
    for (const claim of ['new', 'missing']) {
      const plan = planOf(selection(claim, requested));
      expect(plan.attachments).to.deep.equal([]);
      expect(plan.ipamClaims).to.deep.equal([
        {
          claim: `default/${claim}`,
          network: 'macvlan',
          interface: 'net1',
          subnets: ['macvlan', 'macvlan-2'],
          addresses: ['10.0.1.9'],
          ipFamily: '',
        },
      ]);
      expect(problemsOf(plan)).to.equal(`IPAMClaim default/${claim} has no addresses yet: the Pod waits for them`);
    }
  });

  it('a network selection reports why its IPAMClaim has no addresses', () => {
    expect(problemsOf(planOf(selection('full')))).to.contain('Subnet macvlan is full');
  });

  it('a network selection always names an IPAMClaim of the Pod’s own namespace', () => {
    const { ipamClaims } = planOf(selection('vm1'), {}, { namespace: 'shop' });
    expect(ipamClaims.map(({ claim }) => claim)).to.deep.equal(['shop/vm1']);
    const foreign = planOf(selection('default/vm1'), {}, { namespace: 'shop' });
    expect(problemsOf(foreign)).to.contain("write the name of an IPAMClaim in the Pod's namespace");
    expect(foreign.ipamClaims).to.deep.equal([]);
  });

  const refused: [what: string, plan: ReturnType<typeof planOf>, problem: RegExp][] = [
    ['a claim that is being deleted', planOf(selection('deleted')), /default\/deleted is being deleted/],
    ['a claim for another network', planOf(selection('of-vlan')), /is for network "vlan", not for "macvlan"/],
    [
      'a claim with addresses of a Subnet that the Pod does not use',
      planOf(selection('vm1'), { [annotationKey('logical_switch')]: 'macvlan' }),
      /has addresses of Subnet macvlan-2, from which this network is not served/,
    ],
    [
      'other addresses than those of the claim',
      planOf(selection('vm1', { ips: ['10.0.2.8/24'] })),
      /has 10\.0\.2\.7, and the Pod requests other addresses/,
    ],
    ['an IPPool', planOf(selection('vm1'), { [annotationKey('ip_pool')]: 'pool-1' }), /remove ip_pool/],
    [
      'several sets of addresses for a new claim',
      planOf(selection('new'), { [annotationKey('ip_pool')]: '10.0.1.8;10.0.1.9' }),
      /names 2 sets of addresses/,
    ],
    ['a name over its limit', planOf(selection('a'.repeat(254))), /ipam-claim-reference of macvlan has 254 characters/],
    [
      'the same claim for two NICs',
      planOf(JSON.stringify([0, 1].map(() => ({ name: 'macvlan', 'ipam-claim-reference': 'vm1' })))),
      /ipam-claim-reference vm1 is named twice/,
    ],
  ];
  for (const [what, plan, problem] of refused)
    it(`a network selection that names an IPAMClaim is refused for ${what}`, () => {
      expect(problemsOf(plan)).to.match(problem);
      expect([plan.attachments, plan.ipamClaims]).to.deep.equal([[], []]);
    });

  describe('by the name of the network in its CNI configuration', () => {
    const networkNames = ['in-config', 'of-object'];
    const request = { subnets: ['lan'], interface: 'net1' };
    const reserved = { subnet: 'lan', addresses: ['10.0.0.7', 'fd00::7'], owner: 'ipamclaim/default/vm1' };
    const requestWith = (network: string, more: object = {}, candidates?: string[][]) =>
      requestIpamClaimAddresses(
        {
          key: 'default/vm1',
          networkNames,
          state: { object: { network, deleting: false }, problem: '', ...more },
        },
        { ...request, ...(candidates && { candidates: candidates.map((addresses) => ({ addresses })) }) },
      );

    it('a network selection that names an IPAMClaim has the network in the name of the configuration or of the object', () => {
      for (const network of networkNames)
        expect(requestWith(network, { reserved })).to.have.nested.property('request.reservation', reserved.owner);
      expect(requestWith('other', { reserved }))
        .to.have.nested.property('problem.text')
        .that.contains('is for network "other", not for "in-config"');
      expect(requestWith('of-object')).to.have.nested.property('demand.network', 'in-config');
    });

    it('a network selection that names an IPAMClaim may request any of its addresses, and none beside them', () => {
      const isServed = (...candidates: string[][]): boolean =>
        'request' in requestWith('of-object', { reserved }, candidates);
      expect(isServed(['fd00::7'])).to.equal(true);
      expect(isServed(['10.0.0.9'], ['10.0.0.7', 'fd00::7'])).to.equal(true);
      expect(isServed(['10.0.0.7', 'fd00::9'])).to.equal(false);
    });
  });
});
