import { expect } from 'chai';
import { heldAllocation } from '../testing/fakes.ts';
import { type IpObject, ips } from '../kubernetes/objects/ip.ts';
import {
  belongsToOtherAllocation,
  ipManifest,
  matchesManifest,
  shownAllocation,
  showsAllocation,
} from './ip-object.ts';

const asObject = (manifest: ReturnType<typeof ipManifest>, more: object = {}) =>
  ips.parse({ ...manifest, metadata: { ...manifest.metadata, uid: 'u', resourceVersion: '1', ...more } });

describe('IP object of an allocation', () => {
  it('IP object of an allocation has Kube-OVN’s format, no finalizer and no owner', () => {
    const dual = heldAllocation('p', {
      mac: '02:00:00:00:00:01',
      addresses: [
        { address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' },
        { address: 'fd00::2', cidr: 'fd00::/64', gateway: 'fd00::1' },
      ],
    });
    expect(ipManifest(dual, 'node-1')).to.deep.equal({
      apiVersion: 'kubeovn.io/v1',
      kind: 'IP',
      metadata: {
        name: 'p.default.macvlan.default',
        labels: {
          'ovn.kubernetes.io/subnet': 'macvlan',
          'ovn.kubernetes.io/node-name': 'node-1',
          macvlan: '',
          'ovn.kubernetes.io/ip_reserved': 'false',
        },
        annotations: { 'ipledger.io/allocation': '7' },
      },
      spec: {
        podName: 'p',
        namespace: 'default',
        subnet: 'macvlan',
        attachSubnets: [],
        nodeName: 'node-1',
        ipAddress: '10.0.0.2,fd00::2',
        v4IpAddress: '10.0.0.2',
        v6IpAddress: 'fd00::2',
        attachIps: [],
        macAddress: '02:00:00:00:00:01',
        attachMacs: [],
        containerID: '',
        podType: '',
      },
    });
    expect(
      ipManifest(heldAllocation('web-0', { owner: { kind: 'StatefulSet', name: 'web', uid: 'o' } }), '').spec[
        'podType'
      ],
    ).to.equal('StatefulSet');
    expect(
      ipManifest(heldAllocation('p', { owner: { kind: 'ReplicaSet', name: 'p', uid: 'o' } }), '').spec['podType'],
    ).to.equal('');
  });

  it('IP object of an allocation omits a label that is too long, and has its value in the spec', () => {
    const [subnet, node] = ['s'.repeat(64), `n${'.long'.repeat(20)}`];
    const { metadata, spec } = ipManifest(heldAllocation('p', { subnet }), node);
    expect(metadata.labels).to.deep.equal({ 'ovn.kubernetes.io/ip_reserved': 'false' });
    expect(spec).to.include({ subnet, nodeName: node });
  });

  it('IP object of an allocation has the full name in an annotation when its name is shortened', () => {
    const pod = `p${'.long'.repeat(50)}`;
    const { metadata, spec } = ipManifest(heldAllocation(pod), '');
    expect(metadata.name).to.have.length.at.most(253);
    expect(metadata.annotations).to.deep.equal({
      'ipledger.io/allocation': '7',
      'ipledger.io/name': `${pod}.default.macvlan.default`,
    });
    expect(spec).to.include({ podName: pod, namespace: 'default' });
  });

  it('IP object of an allocation is complete with the required fields, also with additional fields', () => {
    const allocation = heldAllocation('p');
    const manifest = ipManifest(allocation, '');
    const isComplete = (object: IpObject): boolean => showsAllocation(object, allocation, '');
    const { labels } = manifest.metadata;
    expect(isComplete(asObject(manifest))).to.equal(true);
    expect(isComplete(asObject(manifest, { labels: { ...labels, more: 'x' } }))).to.equal(true);
    expect(isComplete(asObject({ ...manifest, spec: { ...manifest.spec, more: 'x' } }))).to.equal(true);
    expect(isComplete(asObject(ipManifest(allocation, 'node-1')))).to.equal(false);
    expect(isComplete(asObject(ipManifest(heldAllocation('p', { seq: 8 }), '')))).to.equal(false);
  });

  for (const [what, edit] of [
    ['a list', { attachIps: ['x'] }],
    ['an immutable field', { macAddress: '02:00:00:00:00:09' }],
    ['its addresses', { ipAddress: '10.0.0.9' }],
    ['its Node', { nodeName: 'node-9' }],
    ['an absent field', { podType: undefined }],
  ] as const)
    it(`IP object of an allocation is incomplete when a user edited ${what}`, () => {
      const manifest = ipManifest(heldAllocation('p'), '');
      const object = asObject({ ...manifest, spec: { ...manifest.spec, ...edit } as never });
      expect(showsAllocation(object, heldAllocation('p'), '')).to.equal(false);
      expect(matchesManifest(object, manifest)).to.equal(false);
      const shown = shownAllocation(heldAllocation('p'), '');
      expect(belongsToOtherAllocation(object, manifest, shown)).to.equal(what === 'an immutable field');
    });

  it('IP object of an allocation is incomplete when a user removed a label', () => {
    const manifest = ipManifest(heldAllocation('p'), '');
    const object = asObject(manifest, { labels: {} });
    expect(showsAllocation(object, heldAllocation('p'), '')).to.equal(false);
    expect(matchesManifest(object, manifest)).to.equal(false);
  });

  it('an IP object that is being deleted, or that the watcher did not write, keeps all its fields', () => {
    const manifest = ipManifest(heldAllocation('p'), '');
    for (const more of [
      { deletionTimestamp: '2026-01-31T08:00:00Z' },
      { finalizers: ['example.com/other'] },
      { annotations: {} },
    ])
      expect(asObject(manifest, more).content, JSON.stringify(more)).to.deep.include({ spec: manifest.spec });
  });

  it('IP object of an allocation is complete with omitted labels and addresses of both families', () => {
    const allocation = heldAllocation('p', {
      subnet: 's'.repeat(64),
      addresses: ['10.0.0.2', 'fd00::2'].map((address) => ({ address, cidr: '', gateway: '' })),
      owner: { kind: 'StatefulSet', name: 'web', uid: 'o' },
    });
    const node = `n${'.long'.repeat(20)}`;
    expect(showsAllocation(asObject(ipManifest(allocation, node)), allocation, node)).to.equal(true);
  });
});
