import { expect } from 'chai';
import { ipamClaims } from '../../kubernetes/objects/ipam-claim.ts';
import { ipamClaimDifferences, ipamClaimStatus, prefixedAddresses } from './ipam-claim-status.ts';

describe('the status of an IPAMClaim', () => {
  const addresses = ['10.0.0.2', 'fd00::2'];

  it('the status of an IPAMClaim has the prefix length of each address in its Subnet, or of a single address if the Subnet is unknown', () => {
    const prefixed = (cidrBlock: string): string[] => prefixedAddresses({ subnet: 'lan', addresses }, cidrBlock);
    expect(prefixed('10.0.0.0/24, fd00::/64')).to.deep.equal(['10.0.0.2/24', 'fd00::2/64']);
    expect(prefixed('')).to.deep.equal(['10.0.0.2/32', 'fd00::2/128']);
  });

  it('the status of an IPAMClaim is written if its addresses or its Pod differ, and not otherwise', () => {
    const shown = (status: object) => ipamClaims.parse({ metadata: { name: 'vm1', uid: 'u' }, spec: {}, status });
    const [ips, others] = [['10.0.0.2/24'], ['10.0.0.3/24']];
    const object = shown({ ips, ownerPod: { name: 'vm' } });
    expect(ipamClaimDifferences(object, ipamClaimStatus(ips, 'vm'))).to.deep.equal({});
    expect(ipamClaimDifferences(object, ipamClaimStatus(others, 'vm'))).to.deep.equal({
      status: { ips: others, ownerPod: { name: 'vm' } },
    });
    expect(ipamClaimDifferences(object, ipamClaimStatus(ips, ''))).to.deep.equal({ status: { ips, ownerPod: null } });
    expect(ipamClaimDifferences(shown({ ips }), ipamClaimStatus(ips, ''))).to.deep.equal({});
  });
});
