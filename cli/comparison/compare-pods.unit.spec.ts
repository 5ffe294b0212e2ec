import { expect } from 'chai';
import type { Pod } from '../cluster/cluster-state.ts';
import {
  allocation,
  attachmentOf,
  type CheckInputParts,
  describeDisagreements,
  lan,
  podWithAnnotations,
  podWithoutAnnotations,
  subnet,
  web,
} from './testing/check-input.fixture.ts';

describe('Allocations without a Pod', () => {
  const ended: [string, Pod[], string][] = [
    ['does not exist', [], 'there is no such Pod'],
    ['was created again with the same name', [{ ...web, identity: 'uid-new' }], 'the Pod of that name has uid uid-new'],
    [
      'has completed',
      [{ ...web, phase: 'Succeeded', restartPolicy: 'OnFailure' }],
      'the Pod needs no address any more (Succeeded)',
    ],
    ['was evicted', [{ ...web, phase: 'Failed', reason: 'Evicted' }], 'the Pod needs no address any more (Failed)'],
    [
      'was deleted by its kubelet',
      [{ ...web, isTerminating: true, graceSeconds: 0 }],
      'the Pod needs no address any more (its kubelet has deleted it)',
    ],
  ];
  for (const [what, pods, sentence] of ended)
    it(`Allocations without a Pod are reported if the Pod ${what}`, () => {
      const holds = 'holds 10.0.0.2 of subnet lan (lan.default, uid uid-web, event 7)';
      expect(describeDisagreements({ pods })[0]).to.equal(`Pod ended: Pod default/web: ${holds}, and ${sentence}`);
    });

  it('Allocations without a Pod are correct while the Pod terminates or restarts its containers', () => {
    for (const parts of [{ isTerminating: true }, { phase: 'Succeeded' }, { phase: 'Failed' }])
      expect(describeDisagreements({ pods: [{ ...web, ...parts }] })).to.deep.equal([]);
  });
});

describe('Annotations of Pods', () => {
  it('Annotations of Pods are reported if they are missing or different', () => {
    expect(
      describeDisagreements({
        pods: [podWithAnnotations({ [`${lan}/ip_address`]: '10.0.0.3', [`${lan}/gateway`]: '' })],
      }),
    ).to.deep.equal([
      `annotation: Pod default/web: annotation ${lan}/ip_address is "10.0.0.3"; the ledger has "10.0.0.2"`,
      `annotation: Pod default/web: annotation ${lan}/gateway is missing; the ledger has "10.0.0.1"`,
    ]);
  });

  it('Annotations of Pods are not expected under a key that Kubernetes rejects', () => {
    const attachment = { ...attachmentOf('web'), ordinal: 1 };
    const second = { ...allocation, seq: 8, attachment, mac: '', interface: 'up-' };
    const far = {
      ...allocation,
      seq: 9,
      attachment: { ...attachmentOf('web'), provider: `${'n'.repeat(240)}.default` },
    };
    const found = describeDisagreements({ allocations: [allocation, second, far] });
    expect(found.filter((line) => line.startsWith('annotation'))).to.deep.equal([]);
  });

  it('Annotations of Pods have the interface in the key for a second attachment of a network, once the interface is known', () => {
    const attachment = { ...attachmentOf('web'), ordinal: 1 };
    const addresses = [{ address: '10.0.0.4', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
    const second = { ...allocation, seq: 8, attachment, addresses, mac: '', interface: '' };
    const ofSecond = (found: string[]): string[] => found.filter((line) => line.startsWith('annotation'));
    expect(ofSecond(describeDisagreements({ allocations: [allocation, second] }))).to.deep.equal([]);
    expect(
      ofSecond(describeDisagreements({ allocations: [allocation, { ...second, interface: 'net2' }] })),
    ).to.deep.equal([
      `annotation: Pod default/web: annotation ${lan}/ip_address.net2 is missing; the ledger has "10.0.0.4"`,
    ]);
  });

  it('Annotations of Pods are reported if they claim an address without an allocation', () => {
    expect(
      describeDisagreements({ pods: [podWithAnnotations({ 'san.infra.ovn.kubernetes.io/allocated': 'true' })] }),
    ).to.deep.equal([
      'annotation: Pod default/web: annotation san.infra.ovn.kubernetes.io/allocated claims an address, and the ledger has none',
    ]);
  });

  it('Annotations of Pods may stay on an ended Pod', () => {
    const endedPod = { ...web, phase: 'Succeeded', restartPolicy: 'Never' };
    const idle = { ...subnet, usage: [] };
    expect(describeDisagreements({ allocations: [], ips: [], subnets: [idle], pods: [endedPod] })).to.deep.equal([]);
  });

  const networks: [string, string | undefined][] = [
    ['lan', 'lan.default'],
    ['other, lan@net7 ,infra/san', 'lan.default and san.infra.ovn'],
    ['[{"name": "san", "namespace": "infra"}, {"name": "lan"}]', 'san.infra.ovn and lan.default'],
    ['chained', 'chained.default'],
    ['other,unknown', undefined],
    ['[{"name"', undefined],
    ['{"name": "lan"}', undefined],
  ];
  for (const [annotation, requested] of networks)
    it(`Annotations of Pods that request ${annotation} ${requested === undefined ? 'need no allocation' : 'need an allocation'}`, () => {
      const pod = {
        ...web,
        name: 'new',
        identity: 'uid-new',
        annotations: { 'k8s.v1.cni.cncf.io/networks': annotation },
      };
      expect(describeDisagreements({ pods: [web, pod] })).to.deep.equal(
        requested === undefined
          ? []
          : [`no address: Pod default/new: requests an address of ${requested}, and has none`],
      );
    });

  it('Annotations of Pods that request NICs by OVN4NFV need an allocation', () => {
    const annotations = { ovnNetwork: '[{"name": "ovn-ls-25", "interface": "net0"}]' };
    const pod = { ...web, name: 'new', identity: 'uid-new', annotations };
    expect(describeDisagreements({ pods: [web, pod] })).to.deep.equal([
      'no address: Pod default/new: requests an address of ovn4nfv.kube-system.ovn, and has none',
    ]);
  });

  it('Annotations of Pods that request a network are ignored if the Pod terminates, has ended or uses the node’s network', () => {
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'lan' };
    const waiting = { ...podWithoutAnnotations, name: 'new', identity: 'uid-new', annotations };
    for (const parts of [
      { isTerminating: true },
      { phase: 'Succeeded', restartPolicy: 'Never' },
      { hostNetwork: true },
    ])
      expect(describeDisagreements({ pods: [web, { ...waiting, ...parts }] })).to.deep.equal([]);
  });
});

describe('Address retention for a StatefulSet member', () => {
  const owner = { kind: 'StatefulSet', name: 'db', uid: 'uid-db' };
  const addresses = [{ address: '10.0.0.3', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
  const retained = {
    ...allocation,
    seq: 9,
    mac: '',
    podUid: 'uid-db-1',
    owner,
    addresses,
    attachment: attachmentOf('db-1'),
  };
  const findHolders = (parts: CheckInputParts): string[] =>
    describeDisagreements({ allocations: [allocation, retained], ...parts }).filter((line) =>
      /^(Pod ended|annotation)/.test(line),
    );

  it('Address retention for a StatefulSet member keeps the allocation without a Pod', () => {
    expect(findHolders({})).to.deep.equal([]);
    expect(findHolders({ pods: [web, { ...podWithoutAnnotations, name: 'db-1', identity: 'uid-new' }] })).to.deep.equal(
      [],
    );
  });

  for (const [why, set] of [
    ['the StatefulSet is smaller', { replicas: 1 }],
    ['the first ordinal is higher', { firstOrdinal: 2 }],
    ['it is another StatefulSet', { uid: 'uid-other' }],
    ['the StatefulSet is being deleted', { deleting: true }],
  ] as const)
    it(`Address retention for a StatefulSet member ends when ${why}`, () => {
      expect(findHolders({ set })).to.deep.equal([
        'Pod ended: Pod default/db-1: holds 10.0.0.3 of subnet lan (lan.default, uid uid-db-1, event 9), and there is no such Pod',
      ]);
    });

  it('Address retention for a StatefulSet member requires the annotations if the Pod exists', () => {
    const pod = { ...podWithoutAnnotations, name: 'db-1', identity: 'uid-db-1' };
    expect(findHolders({ pods: [web, pod] })[0]).to.contain('annotation: Pod default/db-1: annotation');
  });
});

describe('Address retention for a virtual machine', () => {
  const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vmi' };
  const retained = { ...allocation, seq: 9, mac: '', podUid: 'uid-vmi', owner, attachment: attachmentOf('vm1') };
  const findHolders = (machines: readonly string[]): string[] =>
    describeDisagreements({ allocations: [retained], ips: [], pods: [], machines }).filter((line) =>
      line.startsWith('Pod ended'),
    );

  it('Address retention for a virtual machine keeps the allocation while the machine is stopped', () => {
    expect(findHolders(['default/vm1'])).to.deep.equal([]);
  });

  it('Address retention for a virtual machine ends when the machine is deleted, also if another namespace has a machine with this name', () => {
    expect(findHolders(['other/vm1'])[0]).to.match(/^Pod ended: Pod default\/vm1: holds /);
  });
});
