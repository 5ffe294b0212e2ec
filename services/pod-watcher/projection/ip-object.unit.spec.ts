import { expect } from 'chai';
import { heldAllocation } from '../testing/fakes.ts';
import { ips } from '../kubernetes/objects/ip.ts';
import { ipManifest, matchesManifest } from './ip-object.ts';

const asObject = (manifest: ReturnType<typeof ipManifest>, more: object = {}) =>
  ips.parse({ ...manifest, metadata: { ...manifest.metadata, uid: 'u', resourceVersion: '1', ...more } });

describe('IP object of an allocation', () => {
  it('has Kube-OVN’s format, no finalizer and no owner', () => {
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

  it('leaves out a label that is too long, and has its value in the spec', () => {
    const [subnet, node] = ['s'.repeat(64), `n${'.long'.repeat(20)}`];
    const { metadata, spec } = ipManifest(heldAllocation('p', { subnet }), node);
    expect(metadata.labels).to.deep.equal({ 'ovn.kubernetes.io/ip_reserved': 'false' });
    expect(spec).to.include({ subnet, nodeName: node });
  });

  it('has the full name in an annotation when its name is shortened', () => {
    const pod = `p${'.long'.repeat(50)}`;
    const { metadata, spec } = ipManifest(heldAllocation(pod), '');
    expect(metadata.name).to.have.length.at.most(253);
    expect(metadata.annotations).to.deep.equal({
      'ipledger.io/allocation': '7',
      'ipledger.io/name': `${pod}.default.macvlan.default`,
    });
    expect(spec).to.include({ podName: pod, namespace: 'default' });
  });

  it('is up to date when it has the required fields, also with additional ones', () => {
    const manifest = ipManifest(heldAllocation('p'), '');
    expect(
      matchesManifest(asObject(manifest, { labels: { ...manifest.metadata.labels, more: 'x' } }), manifest),
    ).to.equal(true);
    expect(matchesManifest(asObject(manifest), ipManifest(heldAllocation('p'), 'node-1'))).to.equal(false);
    expect(matchesManifest(asObject({ ...manifest, spec: { ...manifest.spec, attachIps: ['x'] } }), manifest)).to.equal(
      false,
    );
    expect(matchesManifest(asObject(manifest, { labels: {} }), manifest)).to.equal(false);
  });
});
