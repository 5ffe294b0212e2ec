import { expect } from 'chai';
import type { Usage } from '../../../proto/generated/ipledger.ts';
import { usageCounts, poolFieldNames, hasCounts, statusPatch, subnetFieldNames } from './usage-counts.ts';

const usage = (family: number, parts: Partial<Usage>): Usage => ({
  family,
  total: '244',
  inUse: '0',
  available: '244',
  inUseRange: '',
  availableRange: '',
  cooldown: '0',
  reserved: '0',
  reservedRange: '',
  quarantined: '0',
  quarantinedRange: '',
  free: '',
  ...parts,
});

describe('Status counts', () => {
  it('The status of a Subnet has counts and ranges of both families, empty for an absent family', () => {
    const four = usage(4, {
      inUse: '2',
      available: '242',
      inUseRange: '172.17.0.11-172.17.0.12',
      availableRange: '172.17.0.13-172.17.0.254',
    });
    expect(usageCounts([four], subnetFieldNames)).to.deep.equal({
      v4availableIPs: 242n,
      v4usingIPs: 2n,
      v4availableIPrange: '172.17.0.13-172.17.0.254',
      v4usingIPrange: '172.17.0.11-172.17.0.12',
      v6availableIPs: 0n,
      v6usingIPs: 0n,
      v6availableIPrange: '',
      v6usingIPrange: '',
    });
  });

  it('The status of an IPPool has Kube-OVN’s field names', () => {
    expect(usageCounts([usage(4, { inUse: '1' })], poolFieldNames)).to.include({
      v4AvailableIPs: 244n,
      v4UsingIPs: 1n,
      v4AvailableIPRange: '',
      v6UsingIPRange: '',
    });
  });

  it('Status counts are written with all digits, up to the largest integer of the API server', () => {
    const counts = usageCounts(
      [usage(4, { available: '9007199254740993' }), usage(6, { available: '18446744073709551614' })],
      subnetFieldNames,
    );
    const text = JSON.stringify(statusPatch(counts));
    expect(text).to.contain('"v4availableIPs":9007199254740993');
    expect(text).to.contain('"v6availableIPs":9223372036854775807');
  });

  it('Status counts are not written when they are the same after JSON parsing', () => {
    const counts = usageCounts([usage(4, {}), usage(6, { available: '18446744073709551614' })], subnetFieldNames);
    const { status } = JSON.parse(JSON.stringify(statusPatch(counts))) as { status: Record<string, unknown> };
    expect(hasCounts(status, counts)).to.equal(true);
    expect(hasCounts({ ...status, v4usingIPs: 1 }, counts)).to.equal(false);
    expect(hasCounts({}, counts)).to.equal(false);
  });

  it('WB-497 Status counts shorten a long range between two of its parts', () => {
    const inUseRange = Array.from({ length: 2_000 }, (_, index) => `10.0.${index >> 7}.${(index & 127) * 2}`).join(',');
    const range = String(usageCounts([usage(4, { inUseRange })], subnetFieldNames)['v4usingIPrange']);
    expect(range.length).to.be.at.most(8_200);
    expect(range.endsWith(',...')).to.equal(true);
    expect(inUseRange.startsWith(range.slice(0, -'...'.length))).to.equal(true);
  });
});
