import { expect } from 'chai';
import type { Subnet } from '../../proto/generated/ipledger.ts';
import { findBindingsWithoutAllocation } from './compare-ledger.ts';
import { findDisagreements } from './find-disagreements.ts';
import {
  allocation,
  attachmentOf,
  binding,
  createCheckInput,
  describeDisagreements,
  ip,
  subnet,
  web,
} from './testing/check-input.fixture.ts';

describe('Allocations of one address', () => {
  const rival = { ...allocation, seq: 9, podUid: 'uid-db', attachment: { ...attachmentOf('db') } };
  const db = { ...web, name: 'db', identity: 'uid-db' };
  const dbIp = { ...ip, name: 'db.default.lan.default', allocation: '9', spec: { ...ip.spec, podName: 'db' } };

  it('Allocations of one address are reported once per pair', () => {
    const found = describeDisagreements({ allocations: [allocation, rival], pods: [web, db], ips: [ip, dbIp] });
    expect(found[0]).to.equal(
      'allocated twice: 10.0.0.2 of subnet lan: Pod default/web (event 7) and Pod default/db (event 9) both hold it',
    );
    expect(found.filter((line) => line.startsWith('allocated twice'))).to.have.length(1);
  });

  it('Allocations of one address are reported for one network in two subnets, and for a MAC', () => {
    const elsewhere = { ...rival, subnet: 'lan2', mac: '' };
    expect(describeDisagreements({ allocations: [allocation, elsewhere] })[0]).to.equal(
      'allocated twice: 10.0.0.2 on network lan.default: Pod default/web (subnet lan, event 7) and Pod default/db (subnet lan2, event 9) both hold it',
    );
    const lent = { ...elsewhere, subnet: 'overlay', attachment: { ...attachmentOf('db'), provider: 'ovn' } };
    expect(
      describeDisagreements({ allocations: [allocation, { ...lent, network: 'switch/overlay' }] }).join(),
    ).to.not.contain('allocated twice');
    const sameMac = { ...rival, addresses: [{ address: '10.0.0.3', cidr: '', gateway: '' }] };
    expect(describeDisagreements({ allocations: [allocation, sameMac] })[0]).to.match(
      /^allocated twice: MAC 02:00:00:00:00:0a on network lan.default: /,
    );
  });

  it('Allocations of one address are compared by subnet if an older allocator sends no network', () => {
    const addresses = [{ address: '10.0.0.2', cidr: '', gateway: '' }];
    const older = { ...allocation, network: '' };
    const other = { ...rival, subnet: 'san', network: '', addresses, mac: allocation.mac };
    expect(describeDisagreements({ allocations: [older, other] }).join()).to.not.contain('allocated twice');
    expect(describeDisagreements({ allocations: [older, { ...other, subnet: 'lan' }] })[0]).to.match(
      /^allocated twice: 10.0.0.2 of subnet lan: /,
    );
  });
});

describe('The usage of subnets and pools', () => {
  it('The usage of subnets and pools must equal the number of allocated addresses, without excluded ones', () => {
    const idle = { ...(subnet.usage[0] as Subnet['usage'][0]), inUse: '0' };
    const found = describeDisagreements({ subnets: [{ ...subnet, usage: [idle] }], status: { v4usingIPs: 0 } });
    expect(found).to.deep.equal([
      'count: subnet lan: the ledger counts 0 IPv4 addresses in use, but 1 are allocated and 0 reserved',
    ]);
    const addresses = [{ address: '10.0.0.205', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
    const excluded = describeDisagreements({
      allocations: [{ ...allocation, addresses }],
      subnets: [{ ...subnet, usage: [idle] }],
      status: { v4usingIPs: 0 },
    });
    expect(excluded.filter((line) => line.startsWith('count'))).to.deep.equal([]);
  });

  it('The usage of subnets and pools includes an address of its range that another subnet of the network allocated, once', () => {
    const [family] = subnet.usage as [Subnet['usage'][0]];
    const lent = (address: string, network = 'lan.default') => ({
      ...allocation,
      seq: 8,
      subnet: 'overlay',
      network,
      mac: '',
      addresses: [{ address, cidr: '', gateway: '' }],
    });
    const overlay = {
      ...subnet,
      name: 'overlay',
      spec: { ...(subnet.spec as NonNullable<Subnet['spec']>), cidrBlock: '10.0.0.0/16', provider: 'ovn' },
      usage: [],
    };
    const countsOf = (lentAllocation: ReturnType<typeof lent>, inUse: string) => {
      const subnets = [{ ...subnet, usage: [{ ...family, inUse }] }, overlay];
      return describeDisagreements({ allocations: [allocation, lentAllocation], subnets }).filter((line) =>
        line.startsWith('count'),
      );
    };
    expect(countsOf(lent('10.0.0.3'), '2')).to.deep.equal([]);
    expect(countsOf(lent('10.0.0.3'), '1')).to.have.length(1);
    expect(countsOf(lent('10.0.0.2'), '1')).to.deep.equal([]);
    // Outside the subnet's range, on another network, and from an older allocator, which counts a
    // subnet's own allocations only
    for (const other of [lent('10.0.9.3'), lent('10.0.0.3', 'switch/overlay'), lent('10.0.0.3', '')])
      expect(countsOf(other, '1')).to.deep.equal([]);
  });

  it('The usage of subnets and pools includes, for a pool, an address that its subnet excludes', () => {
    const addresses = [{ address: '10.0.0.205', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
    const [family] = subnet.usage as [Subnet['usage'][0]];
    const countsOfPool = (inUse: string) => {
      const usage = [{ ...family, total: '1', inUse, available: '0', availableRange: '', inUseRange: '' }];
      const pool = { name: 'front', spec: { subnet: 'lan', ips: ['10.0.0.204..10.0.0.206'], namespaces: [] }, usage };
      const idle = { ...subnet, usage: [{ ...family, inUse: '0' }] };
      const found = describeDisagreements({
        allocations: [{ ...allocation, addresses }],
        subnets: [idle],
        pools: [pool],
      });
      return found.filter((line) => line.startsWith('count'));
    };
    expect(countsOfPool('1')).to.deep.equal([]);
    expect(countsOfPool('0')).to.deep.equal([
      'count: ippool front: the ledger counts 0 IPv4 addresses in use, but 1 are allocated and 0 reserved',
    ]);
  });
});

describe('The comparisons of bindings and fences', () => {
  const current = {
    attachment: attachmentOf('web'),
    subnet: 'lan',
    addresses: ['10.0.0.2'],
    binding,
    allocationSeq: allocation.seq,
  };

  it('The comparisons of bindings and fences report no binding of a released address while the container may answer', () => {
    const lingering = { ...current, addresses: ['10.0.0.8'] };
    expect(describeDisagreements({ bindings: [current, lingering] })).to.deep.equal([]);
    expect(findBindingsWithoutAllocation(createCheckInput({ bindings: [current, lingering] }).ledger)).to.deep.equal([
      lingering,
    ]);
  });

  it('The comparisons of bindings and fences report the bindings of a deleted Node', () => {
    const lingering = { ...current, addresses: ['10.0.0.8'], allocationSeq: 3 };
    expect(describeDisagreements({ bindings: [current, lingering], nodes: ['node-2'] })).to.deep.equal([
      'Node deleted: 10.0.0.8 of subnet lan: held for container c0ffee of Pod default/web on node node-1, and there is no such Node',
    ]);
  });

  it('The comparisons of bindings and fences report bindings of one address on two nodes, also if the address is allocated', () => {
    const first = { ...current, allocationSeq: 3, binding: { ...binding, at: '2026-11-17T14:00:00Z' } };
    const second = {
      ...current,
      binding: { ...binding, containerId: 'cafe', node: 'node-2', at: '2026-11-17T15:00:00Z' },
    };
    const found = findDisagreements(createCheckInput({ bindings: [second, first], nodes: ['node-1', 'node-2'] }));
    expect(found.map(({ kind, where, what }) => `${kind}: ${where}: ${what}`)).to.deep.equal([
      'bound on two nodes: 10.0.0.2 of subnet lan: container cafe on node node-2 and container c0ffee on node node-1 both have it',
    ]);
    expect(found[0]?.remedy).to.match(/^kubectl get node node-1 -o wide +# remove the container there: /);
  });

  it('The comparisons of bindings and fences allow two nodes for a virtual machine in migration, and two containers on one node', () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
    const other = { ...current, binding: { ...binding, containerId: 'cafe', node: 'node-2' } };
    const nodes = ['node-1', 'node-2'];
    const migrating = {
      allocations: [{ ...allocation, owner }],
      machines: ['default/web'],
      bindings: [current, other],
      nodes,
    };
    const same = { ...current, binding: { ...binding, containerId: 'cafe' } };
    // An older allocator sends no allocation
    const older = { ...migrating, bindings: migrating.bindings.map((each) => ({ ...each, allocationSeq: 0 })) };
    const lines = [
      ...describeDisagreements(migrating),
      ...describeDisagreements(older),
      ...describeDisagreements({ bindings: [current, same], nodes }),
    ];
    expect(lines.filter((line) => line.startsWith('bound on two'))).to.deep.equal([]);
  });

  it('The comparisons of bindings and fences report each fenced address, with its holder', () => {
    expect(describeDisagreements({ subnets: [{ ...subnet, fenced: ['10.0.0.2', '10.0.0.9'] }] })).to.deep.equal([
      'fenced: 10.0.0.2 of subnet lan: another etcd client changed its key, so the allocator has fenced it; in the ledger Pod default/web holds 10.0.0.2 of subnet lan (lan.default, uid uid-web, event 7)',
      'fenced: 10.0.0.9 of subnet lan: another etcd client changed its key, so the allocator has fenced it',
    ]);
  });
});
