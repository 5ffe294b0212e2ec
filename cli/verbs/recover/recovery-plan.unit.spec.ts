import { expect } from 'chai';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import type { KubeOvnPool } from '../../cluster/cluster-snapshot.ts';
import type { Pod } from '../../cluster/cluster-state.ts';
import {
  lan,
  metadata,
  pod,
  ip,
  bindings,
  boundTo,
  allocation,
  file,
  exportedAs,
  plan,
  empty,
} from './testing/recovery-input.fixture.ts';

describe('The recovery plan', () => {
  it('The recovery plan is empty if the ledger agrees with the cluster', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2')] };
    expect(plan({ pods: [pod('a', '10.0.0.2')] }, ledger)).to.deep.equal(empty);
    expect(plan({ pods: [pod('a', '')] }, ledger), 'the annotation follows').to.deep.equal(empty);
  });

  it('The recovery plan configures the missing Subnets', () => {
    expect(plan({}, { subnets: [] })).to.deep.equal({ ...empty, configured: ['lan'] });
  });

  it('The recovery plan imports the address of a Pod without an allocation', () => {
    expect(plan({ pods: [pod('a', '10.0.0.2')] })).to.deep.equal({ ...empty, imports: ['a: 10.0.0.2'] });
  });

  it('The recovery plan releases the allocation of a Pod that does not exist', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2')] };
    expect(plan({}, ledger)).to.deep.equal({ ...empty, releases: ['a: its Pod does not exist'] });
    const recreated = { ...pod('a', ''), identity: 'another' };
    expect(plan({ pods: [recreated] }, ledger)).to.deep.equal({ ...empty, releases: ['a: its Pod does not exist'] });
  });

  it('The recovery plan releases an address that another Pod uses, if its own Pod does not exist', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2')] };
    expect(plan({ pods: [pod('b', '10.0.0.2')] }, ledger)).to.deep.equal({
      ...empty,
      releases: ['a: its Pod does not exist'],
      imports: ['b: 10.0.0.2'],
    });
  });

  it('The recovery plan replaces the allocation of a Pod whose IP object has another address', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2')] };
    expect(plan({ pods: [pod('a', '10.0.0.9')], ips: [ip('a', '10.0.0.9')] }, ledger)).to.deep.equal({
      ...empty,
      releases: ['a: IP object a.default.lan.default shows 10.0.0.9 for Pod default/a'],
      imports: ['a: 10.0.0.9'],
    });
  });

  for (const [whose, pods] of [
    ['another Pod', [pod('a', '10.0.0.2'), pod('thief', '10.0.0.2')]],
    ['another Pod, and the own one is absent', [pod('a', ''), pod('thief', '10.0.0.2')]],
    ['the Pod itself, of another address', [pod('a', '10.0.0.9')]],
  ] as const)
    for (const bound of [true, false])
      it(`The recovery plan keeps ${bound ? 'a bound' : 'an unbound'} allocation against an annotation of ${whose}`, () => {
        const ledger = { allocations: [allocation('a', '10.0.0.2', { bindings: bound ? bindings : [] })] };
        expect(plan({ pods }, ledger)).to.deep.equal({
          ...empty,
          conflicts: [`in the ledger: Pod default/${pods.at(-1)?.name}`],
        });
      });

  it('The recovery plan keeps a bound allocation of a running Pod also against an IP object', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2', { bindings })] };
    const cluster = { pods: [pod('a', ''), pod('b', '10.0.0.2')], ips: [ip('b', '10.0.0.2')] };
    expect(plan(cluster, ledger)).to.deep.equal({ ...empty, conflicts: ['in the ledger: Pod default/b'] });
  });

  it('The recovery plan keeps an allocation that is newer than the IP object of another Pod', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2', { seq: 30 })] };
    const cluster = { pods: [pod('a', ''), pod('b', '')], ips: [ip('b', '10.0.0.2')] };
    expect(plan(cluster, ledger)).to.deep.equal({ ...empty, conflicts: ['in the ledger: Pod default/b'] });
  });

  it('The recovery plan ends bindings only if their Pod does not run and the ledger gave the address to another Pod later', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2', { bindings })] };
    expect(plan({ pods: [pod('b', '')], ips: [ip('b', '10.0.0.2')] }, ledger)).to.deep.equal({
      ...empty,
      releases: ['a: IP object b.default.lan.default shows 10.0.0.2 for Pod default/b'],
      ended: ['a'],
      imports: ['b: 10.0.0.2'],
    });
    expect(plan({}, ledger)).to.deep.equal({ ...empty, releases: ['a: its Pod does not exist'] });
    expect(plan({ pods: [pod('b', '10.0.0.2')] }, ledger)).to.deep.equal({
      ...empty,
      releases: ['a: its Pod does not exist'],
      conflicts: ['in the ledger: Pod default/b'],
    });
    const released = boundTo(allocation('a', '10.0.0.2', { bindings }));
    const cluster = { pods: [pod('b', '')], ips: [ip('b', '10.0.0.2')] };
    expect(plan(cluster, { bindings: [released] }).ended).to.deep.equal(['a']);
    expect(plan(cluster, { bindings: [{ ...released, allocationSeq: 21 }] }).ended).to.deep.equal([]);
    expect(plan({ ...cluster, pods: [pod('a', ''), pod('b', '')] }, { bindings: [released] }).ended).to.deep.equal([]);
  });

  it('The recovery plan imports what an IP object shows for a Pod that has ended, as its containers may run', () => {
    const ended = { ...pod('a', '10.0.0.2'), phase: 'Failed', restartPolicy: 'Never' };
    expect(plan({ pods: [ended], ips: [ip('a', '10.0.0.2')] })).to.deep.equal({ ...empty, imports: ['a: 10.0.0.2'] });
    expect(plan({ pods: [ended] }), 'an annotation is no record').to.deep.equal(empty);
  });

  it('The recovery plan quarantines the address that an IP object shows for a deleted Pod, unless another Pod has it', () => {
    const ips = [ip('a', '10.0.0.2')];
    expect(plan({ ips })).to.deep.equal({
      ...empty,
      conflicts: ['deleted Pod: IP object a.default.lan.default'],
      quarantined: ['10.0.0.2'],
    });
    const ledger = { allocations: [allocation('b', '10.0.0.2')] };
    expect(plan({ pods: [pod('b', '10.0.0.2')], ips }, ledger)).to.deep.equal(empty);
  });

  it('The recovery plan quarantines what an IP object shows for a deleted Pod, also if an allocation of it is released that has no binding of it', () => {
    const quarantined = { conflicts: ['deleted Pod: IP object b.default.lan.default'], quarantined: ['10.0.0.2'] };
    const ips = [ip('b', '10.0.0.2')];
    const of = (...allocations: Allocation[]) => plan({ ips }, { allocations });
    expect(of(allocation('a', '10.0.0.2', { bindings })), 'an earlier one').to.deep.include(quarantined);
    expect(of(allocation('b', '10.0.0.2', { seq: 20 })), 'without a binding').to.deep.include(quarantined);
    expect(of(allocation('b', '10.0.0.2', { seq: 20, bindings })).quarantined, 'with its binding').to.deep.equal([]);
  });

  it('The recovery plan gives the address that an IP object shows for a deleted Pod to no Pod that has it by its annotation only', () => {
    const ips = [ip('b', '10.0.0.2')];
    expect(plan({ pods: [pod('a', '10.0.0.2')], ips })).to.deep.include({
      imports: [],
      conflicts: ['deleted Pod: IP object b.default.lan.default', 'no evidence: Pod default/a'],
      quarantined: ['10.0.0.2'],
    });
  });

  it('The recovery plan quarantines the address of a deleted Pod that no other Pod has, if another Pod has the other one', () => {
    const ips = [ip('a', '10.0.0.2', { addresses: ['10.0.0.2', '10.0.0.4'] })];
    const ledger = { allocations: [allocation('b', '10.0.0.2')] };
    expect(plan({ pods: [pod('b', '10.0.0.2')], ips }, ledger).quarantined).to.deep.equal(['10.0.0.4']);
  });

  it('The recovery plan takes the later address of a NIC from its IP object, also while the backup has a binding of the earlier one', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2', { bindings })] };
    expect(plan({ pods: [pod('a', '10.0.0.3')], ips: [ip('a', '10.0.0.3')] }, ledger)).to.deep.include({
      imports: ['a: 10.0.0.3'],
      conflicts: [],
    });
  });

  it('The recovery plan quarantines what an IP object shows for another uid than that of a Pod in use, and not what an annotation claims', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2', { bindings }), allocation('b', '10.0.0.3')] };
    const pods = [pod('a', '10.0.0.2'), pod('b', '10.0.0.2')];
    const ips = [ip('b', '10.0.0.2', { addresses: ['10.0.0.2', '10.0.0.4'] })];
    expect(plan({ pods, ips }, ledger).quarantined).to.deep.equal(['10.0.0.4']);
    expect(plan({ pods: [pods[0] as Pod, pod('b', '10.0.0.5')] }, ledger).quarantined).to.deep.equal([]);
  });

  it('The recovery plan keeps the address of a static Pod without a mirror while a container is bound', () => {
    const podUid = 'b7e02067c9874c3ca23ac4c6d77546fe';
    const bound = allocation('etcd-node-1', '10.0.0.2', { podUid, bindings });
    expect(plan({}, { allocations: [bound] }).releases).to.deep.equal([]);
    expect(plan({}, { allocations: [{ ...bound, bindings: [] }] }).releases).to.have.length(1);
  });

  it('The recovery plan ends the binding of an earlier Pod of a name that runs, if the ledger still has its uid and another Pod got the address', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2', { podUid: 'earlier', bindings })] };
    const cluster = { pods: [pod('a', ''), pod('b', '')], ips: [ip('b', '10.0.0.2')] };
    expect(plan(cluster, ledger).ended).to.deep.equal(['a']);
  });

  it('The recovery plan transfers the address to the next Pod of a name, and leaves the binding of the earlier Pod', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2', { podUid: 'earlier', bindings })] };
    const pods = [pod('a', '')];
    const transferred = { ...empty, imports: ['a: 10.0.0.2'] };
    expect(plan({ pods, ips: [ip('a', '10.0.0.2')] }, ledger)).to.deep.equal(transferred);
    expect(plan({ pods: [pod('a', '10.0.0.2')] }, ledger)).to.deep.equal(transferred);
    const older = [ip('a', '10.0.0.3', { allocation: 7 })];
    expect(plan({ pods, ips: older }, ledger)).to.deep.equal({ ...empty, releases: ['a: its Pod does not exist'] });
  });

  it('The recovery plan imports the address of an IP object, against annotations of its Pod and of other Pods', () => {
    const ips = [ip('a', '10.0.0.2', { mac: '02:00:00:00:00:01' })];
    expect(plan({ pods: [pod('a', ''), pod('thief', '10.0.0.2')], ips })).to.deep.equal({
      ...empty,
      imports: ['a: 10.0.0.2'],
      conflicts: ['allocated twice: Pod default/a and Pod default/thief'],
    });
    expect(plan({ pods: [pod('a', '10.0.0.3')], ips })).to.deep.equal({
      ...empty,
      imports: ['a: 10.0.0.2'],
      conflicts: ['IP object and annotation: Pod default/a'],
      quarantined: ['10.0.0.3'],
    });
  });

  it('The recovery plan takes no IP object of another Pod that shares its name', () => {
    const ips = [ip('a', '10.0.0.2', { pod: 'other' })];
    expect(plan({ pods: [pod('a', '')], ips })).to.deep.equal({
      ...empty,
      conflicts: ['deleted Pod: IP object a.default.lan.default'],
      quarantined: ['10.0.0.2'],
    });
  });

  it('The recovery plan imports neither of two Pods with the same annotation, and quarantines their address', () => {
    expect(plan({ pods: [pod('a', '10.0.0.2'), pod('b', '10.0.0.2'), pod('c', '10.0.0.3')] })).to.deep.equal({
      ...empty,
      imports: ['c: 10.0.0.3'],
      conflicts: ['allocated twice: Pod default/a and Pod default/b'],
      quarantined: ['10.0.0.2'],
    });
  });

  it('The recovery plan leaves out an annotation of a network that the Pod does not request, or of a Subnet or IPPool for others', () => {
    const claims = [pod('a', '10.0.0.2')];
    const leftOut = { ...empty, conflicts: ['no evidence: Pod default/a'] };
    expect(plan({ pods: [pod('a', '10.0.0.2', 'other')] })).to.deep.equal(leftOut);
    expect(plan({ pods: claims, subnets: [{ ...lan, namespaces: ['team'] }] })).to.deep.equal(leftOut);
    const spec = { subnet: 'lan', ips: ['10.0.0.2..10.0.0.5'], namespaces: ['team'] };
    const team: KubeOvnPool = { ...metadata, kind: 'IPPool', name: 'team', spec };
    expect(plan({ pods: claims, pools: [team] })).to.deep.equal({ ...leftOut, configured: ['team'] });
    expect(plan({ pods: claims, subnets: [{ ...lan, hasSelectors: true }] }).quarantined).to.deep.equal(['10.0.0.2']);
  });

  it('The recovery plan includes the other Pods if thousands of Pods have false annotations', () => {
    const liars = Array.from({ length: 5_000 }, (_, index) => pod(`liar-${index}`, '10.0.0.2'));
    const ledger = { allocations: [allocation('a', '10.0.0.2', { bindings })] };
    const { releases, imports, quarantined, conflicts } = plan(
      { pods: [pod('a', ''), ...liars, pod('b', '')], ips: [ip('b', '10.0.0.4')] },
      ledger,
    );
    expect({ releases, imports, quarantined }).to.deep.equal({
      releases: [],
      imports: ['b: 10.0.0.4'],
      quarantined: [],
    });
    expect(conflicts).to.have.length(5_000);
  });

  it('The recovery plan counts a Pod that is terminating as a Pod that runs', () => {
    const terminating = { ...pod('a', ''), isTerminating: true, graceSeconds: 0 };
    expect(plan({ pods: [terminating], ips: [ip('a', '10.0.0.2')] }).imports).to.deep.equal(['a: 10.0.0.2']);
  });

  it('The recovery plan leaves out the routes of an annotation with a wrong form', () => {
    const routed = pod('a', '10.0.0.2');
    const annotations = { ...routed.annotations, 'lan.default.kubernetes.io/routes': '[{"dst":"nowhere"}]' };
    expect(plan({ pods: [{ ...routed, annotations }] })).to.deep.equal({
      ...empty,
      imports: ['a: 10.0.0.2'],
      conflicts: ['invalid annotation: Pod default/a'],
    });
  });

  it('The recovery plan keeps the retained address of a StatefulSet member, and imports a retained address of an IP object', () => {
    const owner = { kind: 'StatefulSet', name: 'db', uid: 'set' };
    const statefulSets = new Map([['default/db', { uid: 'set', deleting: false, replicas: 2, firstOrdinal: 0 }]]);
    const ledger = { allocations: [allocation('db-0', '10.0.0.2', { owner })] };
    const ips = [ip('db-1', '10.0.0.3', { podType: 'StatefulSet' })];
    expect(plan({ statefulSets, ips }, ledger)).to.deep.equal({ ...empty, imports: ['db-1: 10.0.0.3'] });
  });

  it('The recovery plan keeps the address of a stopped virtual machine while the machine exists', () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'instance' };
    const ledger = { allocations: [allocation('vm1', '10.0.0.2', { owner })] };
    expect(plan({ machines: new Set(['default/vm1']) }, ledger)).to.deep.equal(empty);
    expect(plan({}, ledger).releases).to.have.length(1);
  });

  describe('with evidence that tenants cannot write', () => {
    const both = [pod('a', '10.0.0.2'), pod('b', '10.0.0.2')];
    const decided = {
      ...empty,
      imports: ['a: 10.0.0.2'],
      conflicts: ['allocated twice: Pod default/a and Pod default/b'],
    };

    it('With evidence that tenants cannot write, the recovery plan decides between two annotations by a binding file or an export', () => {
      expect(plan({ pods: both }, {}, { bound: [file('a', '10.0.0.2')] })).to.deep.equal(decided);
      expect(plan({ pods: both }, {}, { exported: [exportedAs(9, 'a', '10.0.0.2')] })).to.deep.equal(decided);
    });

    it('With evidence that tenants cannot write, the recovery plan imports the address of a binding file or an export for a Pod without an annotation, or with another one', () => {
      for (const annotated of ['', '10.0.0.9'])
        for (const evidence of [{ bound: [file('a', '10.0.0.2')] }, { exported: [exportedAs(9, 'a', '10.0.0.2')] }])
          expect(plan({ pods: [pod('a', annotated)] }, {}, evidence).imports).to.deep.equal(['a: 10.0.0.2']);
    });

    it('With evidence that tenants cannot write, the recovery plan ignores binding files of ended Pods, of other uids, and of Pods on other nodes', () => {
      const lies = [
        file('a', '10.0.0.2', { podUid: 'earlier' }),
        file('a', '10.0.0.2', { node: 'node-2' }),
        file('gone', '10.0.0.2'),
      ];
      expect(plan({ pods: [pod('a', '')] }, {}, { bound: lies })).to.deep.equal(empty);
    });

    it('With evidence that tenants cannot write, the recovery plan ignores a binding file that takes an address from a running Pod, or names a network that its Pod does not request', () => {
      const bound = [file('b', '10.0.0.2')];
      for (const held of [allocation('a', '10.0.0.2'), allocation('a', '10.0.0.2', { bindings })])
        expect(plan({ pods: [pod('a', ''), pod('b', '')] }, { allocations: [held] }, { bound })).to.deep.equal({
          ...empty,
          conflicts: ['in the ledger: Pod default/b'],
        });
      expect(plan({ pods: [pod('b', '', 'other')] }, {}, { bound })).to.deep.equal({
        ...empty,
        conflicts: ['no evidence: Pod default/b'],
      });
    });

    it('With evidence that tenants cannot write, the recovery plan imports neither a binding file nor the IP object that it contradicts, and quarantines the address', () => {
      const bound = [file('b', '10.0.0.2')];
      const ips = [ip('a', '10.0.0.2')];
      expect(plan({ pods: [pod('a', ''), pod('b', '')], ips }, {}, { bound })).to.deep.equal({
        ...empty,
        conflicts: ['allocated twice: Pod default/a and Pod default/b'],
        quarantined: ['10.0.0.2'],
      });
      expect(plan({ pods: [pod('a', '')], ips }, {}, { bound: [file('a', '10.0.0.3')] })).to.deep.equal({
        ...empty,
        conflicts: ['binding file: Pod default/a'],
        quarantined: ['10.0.0.2', '10.0.0.3'],
      });
    });

    it('With evidence that tenants cannot write, the recovery plan prefers the later of an IP object and an export, and an allocation that the ledger has', () => {
      const cluster = { pods: [pod('a', '')], ips: [ip('a', '10.0.0.3')] };
      const imports = (seq: number) => plan(cluster, {}, { exported: [exportedAs(seq, 'a', '10.0.0.2')] }).imports;
      expect(imports(19)).to.deep.equal(['a: 10.0.0.3']);
      expect(imports(21)).to.deep.equal(['a: 10.0.0.2']);
      const ledger = { allocations: [allocation('a', '10.0.0.2')] };
      const evidence = { exported: [exportedAs(7, 'a', '10.0.0.2')], bound: [file('a', '10.0.0.2')] };
      expect(plan({ pods: [pod('a', '')] }, ledger, evidence)).to.deep.equal(empty);
    });
  });
});
