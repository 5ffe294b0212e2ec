import { expect } from 'chai';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  allocateRequest,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';

describe('Reserve', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());
  const reserve = (reservedFor: string, more: object = {}) =>
    served.call(IpamService.reserve, { subnet: 'macvlan', reservedFor, reason: 'printer', ...more });

  it('Reserve returns the address record, and the same record for a repeated request', async () => {
    const { position, records } = await reserve('vip/web', { mac: '02-00-00-00-00-0A' });
    expect(records).to.have.length(1);
    expect(records[0]).to.deep.include({ subnet: 'macvlan', address: '172.17.0.11', state: 'reserved', lastSeq: 3 });
    const { at, ...reservation } = records[0]?.reservation ?? {};
    expect(reservation).to.deep.equal({ reservedFor: 'vip/web', reason: 'printer', mac: '02:00:00:00:00:0a', seq: 3 });
    expect(at).to.match(/^\d{4}-.*Z$/);
    const again = await reserve('vip/web', { reason: 'another reason' });
    expect(again.records).to.deep.equal(records);
    expect(again.position).to.deep.equal(position);
  });

  it('Reserve reserves one address of each family, IPv4 first', async () => {
    await applySubnet(served, 'dual', { cidrBlock: 'fd00::/64,10.0.0.0/24' });
    const fields = { subnet: 'dual', reservedFor: 'vip/dual' };
    const { records } = await served.call(IpamService.reserve, fields);
    expect(records.map(({ address }) => address)).to.deep.equal(['10.0.0.2', 'fd00::2']);
    const one = await served.call(IpamService.reserve, { ...fields, ipFamily: 'ipv6' });
    expect(one.records.map(({ address }) => address)).to.deep.equal(['fd00::2']);
  });

  it('Reserve keeps the address for the named owner', async () => {
    await reserve('vip/web', { addresses: ['172.17.0.11'] });
    await reserve('pod/default/db-0/macvlan.default', { addresses: ['172.17.0.50'] });
    expect((await allocate(served, 'a')).addresses[0]?.address).to.equal('172.17.0.12');
    expect((await allocate(served, 'web', { reservation: 'vip/web' })).addresses[0]?.address).to.equal('172.17.0.11');
    const db = await allocate(served, 'db-0');
    expect(db).to.deep.include({ cause: 'ALLOCATION_CAUSE_RESERVATION' });
    expect(db.addresses[0]?.address).to.equal('172.17.0.50');
    expect(
      await served.refusal(IpamService.allocate, allocateRequest('b', { reservation: 'vip/other' })),
    ).to.deep.include({
      status: 'NOT_FOUND',
      code: 'RESERVATION_UNKNOWN',
    });
  });

  it('reservations are listed by Subnet and address, in pages', async () => {
    for (const [name, address] of [
      ['vip/c', '172.17.0.9'],
      ['vip/a', '172.17.0.30'],
      ['vip/b', '172.17.0.20'],
    ] as const)
      await reserve(name, { addresses: [address] });
    const page = (more: object) => served.call(IpamService.listReservations, more);
    const first = await page({ pageSize: 2 });
    expect(first.records.map(({ address }) => address)).to.deep.equal(['172.17.0.20', '172.17.0.30']);
    const second = await page({ pageSize: 2, pageToken: first.nextPageToken });
    expect(second.records.map(({ reservation }) => reservation?.reservedFor)).to.deep.equal(['vip/c']);
    expect(second.nextPageToken).to.equal('');
    expect((await page({ reservedFor: 'vip/b' })).records).to.have.length(1);
    expect((await page({ subnet: 'other' })).records).to.have.length(0);
  });

  it('Unreserve ends a reservation, and succeeds when repeated', async () => {
    await reserve('vip/web');
    for (const time of ['first call', 'second call']) {
      const { position } = await served.call(IpamService.unreserve, { subnet: 'macvlan', reservedFor: 'vip/web' });
      expect(position?.seq, time).to.equal(4);
    }
    expect((await served.call(IpamService.listReservations, {})).records).to.deep.equal([]);
  });

  it('a reservation persists over a restart', async () => {
    await reserve('vip/web');
    await using again = await serveAllocator(served.memory);
    expect((await allocate(again, 'a')).addresses[0]?.address).to.equal('172.17.0.12');
    expect((await again.call(IpamService.listReservations, {})).records).to.have.length(1);
  });

  it('Reserve rejects a malformed request', async () => {
    for (const [request, message] of [
      [{ reservedFor: '' }, 'reserved_for is missing'],
      [
        { addresses: ['172.17.0.11/16'] },
        'failed to parse IP 172.17.0.11/16: invalid IP address "172.17.0.11/16": write it without a mask, "172.17.0.11"',
      ],
      [
        { addresses: ['172.17.0.11', '172.17.0.12', '172.17.0.13'] },
        'addresses has 3 entries, and 2 is the limit: shorten it',
      ],
    ] as const) {
      const fields = { subnet: 'macvlan', reservedFor: 'vip/web', ...request };
      const refusal = await served.refusal(IpamService.reserve, {
        ...fields,
        ...('addresses' in request && { addresses: [...request.addresses] }),
      });
      expect(refusal).to.deep.equal({ status: 'INVALID_ARGUMENT', code: 'INVALID_REQUEST', message });
    }
  });
});

describe('Quarantine', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  it('Quarantine takes an address out of use until Unquarantine', async () => {
    const where = { subnet: 'macvlan', address: '172.17.0.11' };
    await served.call(IpamService.quarantine, {
      ...where,
      seenMac: '52:54:00:00:00:01',
      seenAt: 'node-2',
      reason: 'a printer',
    });
    const { record } = await served.call(IpamService.getAddress, where);
    expect(record?.state).to.equal('quarantined');
    const { at: _, ...quarantine } = record?.quarantine ?? {};
    expect(quarantine).to.deep.equal({ seenMac: '52:54:00:00:00:01', seenAt: 'node-2', reason: 'a printer', seq: 3 });
    expect((await allocate(served, 'a')).addresses[0]?.address).to.equal('172.17.0.12');
    await served.call(IpamService.unquarantine, { ...where, reason: 'gone' });
    const named = await allocate(served, 'b', { candidates: [{ addresses: ['172.17.0.11'] }] });
    expect(named.addresses[0]?.address).to.equal('172.17.0.11');
  });
});
