import { expect } from 'chai';
import type { Subnet } from '../../proto/ipledger.ts';
import { compare, lasting } from './compare.ts';
import { heldBack } from './ledger-alone.ts';
import type { Pod } from './picture.ts';
import {
  allocation,
  at,
  attachmentOf,
  binding,
  ip,
  lan,
  type Parts,
  picture,
  plain,
  showing,
  subnet,
  told,
  web,
} from './picture.fixture.ts';

describe('comparing the ledger with the cluster', () => {
  it('finds nothing when all agree', () => {
    expect(told({})).to.deep.equal([]);
  });

  it('tells of a frozen ledger only that it is: what mends the rest would destroy what brings it back', () => {
    const freeze = { known: { epoch: 1, seq: 50, hash: '' }, by: 'ipledger://watcher', at: '', foundAt: '' };
    expect(told({ freeze, allocations: [] })).to.deep.equal([
      'frozen: the ledger: etcd was put back to an older state: ipledger://watcher remembers event 50 of epoch 1, which is not in it',
    ]);
  });

  describe('who holds', () => {
    const rival = { ...allocation, seq: 9, podUid: 'uid-db', attachment: { ...attachmentOf('db') } };
    const db = { ...web, name: 'db', identity: 'uid-db' };
    const dbIp = { ...ip, name: 'db.default.lan.default', allocation: '9', spec: { ...ip.spec, podName: 'db' } };

    it('an address that is held twice is told once', () => {
      const found = told({ allocations: [allocation, rival], pods: [web, db], ips: [ip, dbIp] });
      expect(found[0]).to.equal(
        'held twice: 10.0.0.2 of subnet lan: Pod default/web (event 7) and Pod default/db (event 9) both hold it',
      );
      expect(found.filter((line) => line.startsWith('held twice'))).to.have.length(1);
    });

    it('so is one on the same network in two subnets, and a MAC', () => {
      const elsewhere = { ...rival, subnet: 'lan2', mac: '' };
      expect(told({ allocations: [allocation, elsewhere] })[0]).to.equal(
        'held twice: 10.0.0.2 on network lan.default: Pod default/web (subnet lan, event 7) and Pod default/db (subnet lan2, event 9) both hold it',
      );
      const lent = { ...elsewhere, subnet: 'overlay', attachment: { ...attachmentOf('db'), provider: 'ovn' } };
      expect(told({ allocations: [allocation, { ...lent, network: 'switch/overlay' }] }).join()).to.not.contain(
        'held twice',
      );
      const sameMac = { ...rival, addresses: [{ address: '10.0.0.3', cidr: '', gateway: '' }] };
      expect(told({ allocations: [allocation, sameMac] })[0]).to.match(
        /^held twice: MAC 02:00:00:00:00:0a on network lan.default: /,
      );
    });

    it('equal addresses of two networks are no disagreement where an older allocator names no network', () => {
      const addresses = [{ address: '10.0.0.2', cidr: '', gateway: '' }];
      const older = { ...allocation, network: '' };
      const other = { ...rival, subnet: 'san', network: '', addresses, mac: allocation.mac };
      expect(told({ allocations: [older, other] }).join()).to.not.contain('held twice');
      expect(told({ allocations: [older, { ...other, subnet: 'lan' }] })[0]).to.match(
        /^held twice: 10.0.0.2 of subnet lan: /,
      );
    });

    const gone: [string, Pod[], string][] = [
      ['is not there', [], 'there is no such Pod'],
      ['was re-created under its name', [{ ...web, identity: 'uid-new' }], 'the Pod of that name has uid uid-new'],
      [
        'has completed',
        [{ ...web, phase: 'Succeeded', restartPolicy: 'OnFailure' }],
        'the Pod needs no address any more (Succeeded)',
      ],
      ['was evicted', [{ ...web, phase: 'Failed', reason: 'Evicted' }], 'the Pod needs no address any more (Failed)'],
      [
        'is overdue by a grace period',
        [{ ...web, deletionAt: at - 61_000 }],
        'the Pod needs no address any more (it should be gone for long)',
      ],
    ];
    for (const [what, pods, sentence] of gone)
      it(`a Pod that ${what} needs it no more`, () => {
        const holds = 'holds 10.0.0.2 of subnet lan (lan.default, uid uid-web, event 7)';
        expect(told({ pods })[0]).to.equal(`holder gone: Pod default/web: ${holds}, and ${sentence}`);
      });

    it('a Pod that terminates, restarts its containers or failed and tries again needs it still', () => {
      for (const parts of [{ deletionAt: at - 59_000 }, { phase: 'Succeeded' }, { phase: 'Failed' }])
        expect(told({ pods: [{ ...web, ...parts }] })).to.deep.equal([]);
    });
  });

  describe('what Pods show', () => {
    it('an annotation that is missing or different is told', () => {
      expect(told({ pods: [showing({ [`${lan}/ip_address`]: '10.0.0.3', [`${lan}/gateway`]: '' })] })).to.deep.equal([
        `annotation: Pod default/web: annotation ${lan}/ip_address says "10.0.0.3"; the ledger says "10.0.0.2"`,
        `annotation: Pod default/web: annotation ${lan}/gateway is not there; the ledger says "10.0.0.1"`,
      ]);
    });

    it('a further attachment of a network shows its address under its interface, once that is known', () => {
      const attachment = { ...attachmentOf('web'), ordinal: 1 };
      const addresses = [{ address: '10.0.0.4', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
      const second = { ...allocation, seq: 8, attachment, addresses, mac: '', interface: '' };
      const ofSecond = (found: string[]): string[] => found.filter((line) => line.startsWith('annotation'));
      expect(ofSecond(told({ allocations: [allocation, second] }))).to.deep.equal([]);
      expect(ofSecond(told({ allocations: [allocation, { ...second, interface: 'net2' }] }))).to.deep.equal([
        `annotation: Pod default/web: annotation ${lan}/ip_address.net2 is not there; the ledger says "10.0.0.4"`,
      ]);
    });

    it('a Pod that says that it has an address which nobody gave it is told', () => {
      expect(told({ pods: [showing({ 'san.infra.ovn.kubernetes.io/allocated': 'true' })] })).to.deep.equal([
        'annotation: Pod default/web: annotation san.infra.ovn.kubernetes.io/allocated says that it has an address, and the ledger knows of none',
      ]);
    });

    it('a Pod that has ended may show what it had', () => {
      const ended = { ...web, phase: 'Succeeded', restartPolicy: 'Never' };
      const idle = { ...subnet, usage: [] };
      expect(told({ allocations: [], ips: [], subnets: [idle], pods: [ended] })).to.deep.equal([]);
    });

    const networks: [string, string | undefined][] = [
      ['lan', 'lan.default'],
      ['other, lan@net7 ,infra/san', 'lan.default and san.infra.ovn'],
      ['[{"name": "san", "namespace": "infra"}, {"name": "lan"}]', 'san.infra.ovn and lan.default'],
      ['other,unknown', undefined],
      ['[{"name"', undefined],
      ['{"name": "lan"}', undefined],
    ];
    for (const [annotation, wanted] of networks)
      it(`a Pod that holds nothing and wants ${annotation} ${wanted === undefined ? 'lacks nothing' : 'is told'}`, () => {
        const pod = {
          ...web,
          name: 'new',
          identity: 'uid-new',
          annotations: { 'k8s.v1.cni.cncf.io/networks': annotation },
        };
        expect(told({ pods: [web, pod] })).to.deep.equal(
          wanted === undefined ? [] : [`no address: Pod default/new: wants an address of ${wanted}, and holds none`],
        );
      });

    it('who terminates, has ended or uses the node’s network wants nothing', () => {
      const annotations = { 'k8s.v1.cni.cncf.io/networks': 'lan' };
      const waiting = { ...plain, name: 'new', identity: 'uid-new', annotations };
      for (const parts of [{ deletionAt: at }, { phase: 'Succeeded', restartPolicy: 'Never' }, { hostNetwork: true }])
        expect(told({ pods: [web, { ...waiting, ...parts }] })).to.deep.equal([]);
    });
  });

  describe('IP objects', () => {
    it('one that is missing is told, also by a name that had to be shortened', () => {
      expect(told({ ips: [] })).to.deep.equal([
        'IP object missing: IP web.default.lan.default: there is none for 10.0.0.2 of subnet lan (lan.default, uid uid-web, event 7) of Pod default/web',
      ]);
      const name = 'w'.repeat(250);
      const long = { ...allocation, attachment: attachmentOf(name) };
      const [missing] = told({ allocations: [long], pods: [{ ...web, name }], ips: [] });
      expect(missing).to.match(/^IP object missing: IP w{220}-[0-9a-f]{32}: there is none for 10\.0\.0\.2/);
    });

    it('one of ours that nobody holds is told', () => {
      const spec = { subnet: 'lan', ipAddress: '10.0.0.9' };
      expect(told({ ips: [ip, { name: 'old.default.lan.default', allocation: '5', spec }] })).to.deep.equal([
        'IP object superfluous: IP old.default.lan.default: it shows 10.0.0.9 of subnet lan, and no Pod holds that under this name',
      ]);
    });

    it('one of somebody else is told only when it shows an address of our subnets', () => {
      const foreign = (of: string) => ({
        name: 'x.default',
        allocation: '',
        spec: { subnet: of, ipAddress: '10.0.0.9' },
      });
      expect(told({ ips: [ip, foreign('ovn-default')] })).to.deep.equal([]);
      expect(told({ ips: [ip, foreign('lan')] })[0]).to.match(/^IP object superfluous: IP x.default: /);
    });

    it('one that shows something else is told, field by field', () => {
      const spec = { ...ip.spec, ipAddress: '10.0.0.3', podName: 'wob' };
      expect(told({ ips: [{ ...ip, allocation: '6', spec }] })).to.deep.equal([
        'IP object differs: IP web.default.lan.default: spec.podName is "wob"; the ledger says "web"',
        'IP object differs: IP web.default.lan.default: spec.ipAddress is "10.0.0.3"; the ledger says "10.0.0.2"',
        'IP object differs: IP web.default.lan.default: it shows event 6; the ledger says 7',
      ]);
    });

    it('two that show one address are told', () => {
      const other = { name: 'y', allocation: '', spec: { subnet: 'lan', ipAddress: '10.0.0.2,fd00::2' } };
      expect(told({ ips: [ip, other] }).at(-1)).to.equal(
        'address in two IP objects: 10.0.0.2 of subnet lan: IP web.default.lan.default and IP y both show it',
      );
    });
  });

  it('says for each how it is mended, by a command that can be run as it stands', () => {
    const mended = (parts: Parts): string => compare(picture(parts))[0]?.remedy.replace(/  # .*/, '') ?? '';
    expect(mended({ pods: [] })).to.equal("ipledger release 10.0.0.2 --subnet lan --reason 'its Pod is gone'");
    expect(mended({ pods: [showing({ [`${lan}/ip_address`]: '10.0.0.3' })] })).to.equal(
      `kubectl annotate pod -n default web --overwrite ${lan}/ip_address=10.0.0.2`,
    );
    expect(mended({ pods: [showing({ 'san.infra.kubernetes.io/allocated': 'true' })] })).to.equal(
      'kubectl annotate pod -n default web --overwrite san.infra.kubernetes.io/allocated-',
    );
    expect(mended({ ips: [{ ...ip, allocation: '6' }] })).to.equal('kubectl delete ip web.default.lan.default');
    expect(mended({ ips: [] })).to.equal('kubectl rollout restart -n kube-system deployment/ipledger-pod-watcher');
  });

  describe('counts', () => {
    it('a Subnet status that counts otherwise is told', () => {
      expect(told({ status: { v4usingIPs: 2, v4usingIPrange: '10.0.0.2-10.0.0.3' } })).to.deep.equal([
        'Subnet status: Subnet lan: status.v4usingIPs is 2; the ledger says 1',
        'Subnet status: Subnet lan: status.v4usingIPrange is "10.0.0.2-10.0.0.3"; the ledger says "10.0.0.2"',
      ]);
    });

    it('so is an IPPool status', () => {
      const usage = subnet.usage.map((family) => ({ ...family, availableRange: '', inUseRange: '' }));
      const pool = { name: 'front', spec: { subnet: 'lan', ips: ['10.0.0.2..10.0.0.9'], namespaces: [] }, usage };
      expect(told({ pools: [pool], poolStatus: { v4AvailableIPs: 241, v4UsingIPs: 3 } })).to.deep.equal([
        'IPPool status: IPPool front: status.v4UsingIPs is 3; the ledger says 1',
      ]);
    });

    it('a range that the status cuts short, and a count that its numbers cannot hold, are the same', () => {
      const family = {
        ...(subnet.usage[0] as Subnet['usage'][0]),
        available: String(2n ** 64n),
        availableRange: '10.0.0.3,10.0.0.5,10.0.0.7',
      };
      const shown = { v4availableIPs: 2 ** 63, v4availableIPrange: '10.0.0.3,10.0.0.5,...' };
      expect(told({ subnets: [{ ...subnet, usage: [family] }], status: shown })).to.deep.equal([]);
    });

    it('a ledger that counts otherwise than it holds is told; excluded addresses count nowhere', () => {
      const idle = { ...(subnet.usage[0] as Subnet['usage'][0]), inUse: '0' };
      const found = told({ subnets: [{ ...subnet, usage: [idle] }], status: { v4usingIPs: 0 } });
      expect(found).to.deep.equal([
        'count: subnet lan: the ledger counts 0 IPv4 addresses in use, and 1 are held, 0 reserved',
      ]);
      const addresses = [{ address: '10.0.0.205', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
      const excluded = told({
        allocations: [{ ...allocation, addresses }],
        subnets: [{ ...subnet, usage: [idle] }],
        status: { v4usingIPs: 0 },
      });
      expect(excluded.filter((line) => line.startsWith('count'))).to.deep.equal([]);
    });

    it('an address that a NIC of the network drew from another Subnet counts as in use, once', () => {
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
      const countsOf = (given: ReturnType<typeof lent>, inUse: string) => {
        const subnets = [{ ...subnet, usage: [{ ...family, inUse }] }, overlay];
        return told({ allocations: [allocation, given], subnets }).filter((line) => line.startsWith('count'));
      };
      expect(countsOf(lent('10.0.0.3'), '2')).to.deep.equal([]);
      expect(countsOf(lent('10.0.0.3'), '1')).to.have.length(1);
      expect(countsOf(lent('10.0.0.2'), '1')).to.deep.equal([]);
      // Outside the Subnet's range, on another network, and of an older allocator, which counts a Subnet's own.
      for (const other of [lent('10.0.9.3'), lent('10.0.0.3', 'switch/overlay'), lent('10.0.0.3', '')])
        expect(countsOf(other, '1')).to.deep.equal([]);
    });

    it('an IPPool counts a held address that its Subnet excludes, and one that counts otherwise is reported', () => {
      const addresses = [{ address: '10.0.0.205', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
      const [family] = subnet.usage as [Subnet['usage'][0]];
      const countsOfPool = (inUse: string) => {
        const usage = [{ ...family, total: '1', inUse, available: '0', availableRange: '', inUseRange: '' }];
        const pool = { name: 'front', spec: { subnet: 'lan', ips: ['10.0.0.204..10.0.0.206'], namespaces: [] }, usage };
        const idle = { ...subnet, usage: [{ ...family, inUse: '0' }] };
        const found = told({ allocations: [{ ...allocation, addresses }], subnets: [idle], pools: [pool] });
        return found.filter((line) => line.startsWith('count'));
      };
      expect(countsOfPool('1')).to.deep.equal([]);
      expect(countsOfPool('0')).to.deep.equal([
        'count: ippool front: the ledger counts 0 IPv4 addresses in use, and 1 are held, 0 reserved',
      ]);
    });
  });

  describe('addresses that nobody is given', () => {
    const held = {
      attachment: attachmentOf('web'),
      subnet: 'lan',
      addresses: ['10.0.0.2'],
      binding,
      allocationSeq: allocation.seq,
    };

    it('one that a container may still answer on is rightly held back, and no disagreement', () => {
      const left = { ...held, addresses: ['10.0.0.8'] };
      expect(told({ bindings: [held, left] })).to.deep.equal([]);
      expect(heldBack(picture({ bindings: [held, left] }).ledger)).to.deep.equal([left]);
    });

    it('it is one when there is no such Node (any more)', () => {
      const left = { ...held, addresses: ['10.0.0.8'], allocationSeq: 3 };
      expect(told({ bindings: [held, left], nodes: ['node-2'] })).to.deep.equal([
        'node gone: 10.0.0.8 of subnet lan: held back for container c0ffee of Pod default/web on node node-1, and there is no such Node',
      ]);
    });

    it('one that is bound on two nodes is told with both, also when a Pod holds it', () => {
      const first = { ...held, allocationSeq: 3, binding: { ...binding, at: '2026-11-17T14:00:00Z' } };
      const second = {
        ...held,
        binding: { ...binding, containerId: 'cafe', node: 'node-2', at: '2026-11-17T15:00:00Z' },
      };
      const found = compare(picture({ bindings: [second, first], nodes: ['node-1', 'node-2'] }));
      expect(found.map(({ kind, where, what }) => `${kind}: ${where}: ${what}`)).to.deep.equal([
        'bound on two nodes: 10.0.0.2 of subnet lan: container cafe on node node-2 and container c0ffee on node node-1 both have it',
      ]);
      expect(found[0]?.remedy).to.match(/^kubectl delete node node-1 +# if node-1 is down for good; if it runs, /);
    });

    it('of a virtual machine that moves, two nodes are no disagreement; nor are two containers on one', () => {
      const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vm1' };
      const other = { ...held, binding: { ...binding, containerId: 'cafe', node: 'node-2' } };
      const nodes = ['node-1', 'node-2'];
      const moving = {
        allocations: [{ ...allocation, owner }],
        machines: ['default/web'],
        bindings: [held, other],
        nodes,
      };
      const same = { ...held, binding: { ...binding, containerId: 'cafe' } };
      // An older allocator does not say which allocation a container was bound to.
      const older = { ...moving, bindings: moving.bindings.map((each) => ({ ...each, allocationSeq: 0 })) };
      const lines = [...told(moving), ...told(older), ...told({ bindings: [held, same], nodes })];
      expect(lines.filter((line) => line.startsWith('bound on two'))).to.deep.equal([]);
    });

    it('one whose key was changed by hand is told, with whom the ledger names', () => {
      expect(told({ subnets: [{ ...subnet, fenced: ['10.0.0.2', '10.0.0.9'] }] })).to.deep.equal([
        'fenced: 10.0.0.2 of subnet lan: its key in etcd was changed by something else than ipledger: it is fenced; the ledger says Pod default/web holds 10.0.0.2 of subnet lan (lan.default, uid uid-web, event 7)',
        'fenced: 10.0.0.9 of subnet lan: its key in etcd was changed by something else than ipledger: it is fenced',
      ]);
    });
  });

  it('tells of two looks only what both show alike', () => {
    const [first, second, third] = compare(picture({ pods: [], ips: [], status: { v4usingIPs: 3 } }));
    const later = [{ ...(first as object), what: 'something else' }, second] as ReturnType<typeof compare>;
    expect(third).to.have.property('kind', 'Subnet status');
    expect(lasting(compare(picture({ pods: [], ips: [] })), later)).to.deep.equal([second]);
  });
});
