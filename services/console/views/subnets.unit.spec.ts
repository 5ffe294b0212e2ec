import { expect } from 'chai';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { SubnetList } from '../api/subnet.ts';
import { Query } from '../http/query.ts';
import { createLedgerReads } from '../ledger/ledger-reads.ts';
import { listSubnets } from './subnets.ts';

const position = { epoch: 1, seq: 9, hash: 'h' };
const now = Date.UTC(2026, 0, 10, 12, 30);
const hour = Math.floor(now / 3_600_000);
const usage = { family: 4, total: '100', inUse: '60', available: '40', free: '30' };

async function list(series: { hours: number[]; inUse: number[] } | Error, of: object = {}) {
  const allocator = fakeLedgerClient({
    listSubnets: () => ({
      position,
      subnets: [{ name: 'lan', spec: { cidrBlock: '10.0.0.0/24' }, usage: [{ ...usage, ...of }] }],
    }),
  });
  const readModel = fakeLedgerClient({
    listUsage: () => {
      if (series instanceof Error) throw series;
      return { position, usage: [{ subnet: 'lan', family: 4, ...series }] };
    },
  });
  const reads = createLedgerReads(allocator, readModel);
  const request = { params: {}, query: new Query(new URLSearchParams()), signal: new AbortController().signal };
  const { items } = (await listSubnets(reads, () => now)(request)).body as SubnetList;
  const [row] = items;
  if (!row) throw new Error('no row');
  return row;
}

describe('The list of Subnets', () => {
  it('The list of Subnets has one number for each hour, also for those without a change', async () => {
    const { trend } = await list({ hours: [hour - 50, hour - 2, hour], inUse: [10, 20, 60] });
    expect(trend).to.have.length(48);
    expect([trend[0], trend.at(-4), trend.at(-3), trend.at(-2), trend.at(-1)]).to.deep.equal([10, 10, 20, 20, 60]);
  });

  it('The list of Subnets estimates the days that are left by the growth of the last day, and none without growth', async () => {
    expect((await list({ hours: [hour - 30, hour], inUse: [50, 60] })).daysLeft).to.equal(3);
    expect((await list({ hours: [hour - 30, hour], inUse: [60, 60] })).daysLeft).to.equal(null);
    expect((await list({ hours: [hour - 30, hour], inUse: [70, 60] })).daysLeft).to.equal(null);
  });

  it('The list of Subnets has conditions for a full and a nearly full Subnet', async () => {
    const conditionsOf = async (of: object) =>
      (await list({ hours: [], inUse: [] }, of)).conditions.map(({ type }) => type);
    expect(await conditionsOf({})).to.deep.equal([]);
    expect(await conditionsOf({ inUse: '90', free: '10' })).to.deep.equal(['NearlyFull']);
    expect(await conditionsOf({ inUse: '60', free: '0' })).to.deep.equal(['Full']);
  });

  it('The list of Subnets counts addresses that are neither in use nor free as resting, but not idle addresses', async () => {
    const [ipv4] = (await list({ hours: [], inUse: [] }, { cooldown: '35' })).usage;
    expect(ipv4?.resting).to.equal('10');
  });

  it('The list of Subnets is shown without a trend while the read model does not answer', async () => {
    const row = await list(new IpledgerError('UNAVAILABLE', 'it starts'));
    expect([row.name, row.trend, row.daysLeft]).to.deep.equal(['lan', [], null]);
  });
});
