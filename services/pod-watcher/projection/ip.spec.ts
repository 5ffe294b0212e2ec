import { expect } from 'chai';
import { holding } from '../fakes.ts';
import { ips } from '../kubernetes/kept-objects.ts';
import { ipManifest, shows } from './ip.ts';

const asObject = (manifest: ReturnType<typeof ipManifest>, more: object = {}) =>
  ips.parse({ ...manifest, metadata: { ...manifest.metadata, uid: 'u', resourceVersion: '1', ...more } });

describe('the IP object of an allocation', () => {
  it('has Kube-OVN’s form, no finalizer and no owner', () => {
    const dual = holding('p', {
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
      ipManifest(holding('web-0', { owner: { kind: 'StatefulSet', name: 'web', uid: 'o' } }), '').spec['podType'],
    ).to.equal('StatefulSet');
    expect(
      ipManifest(holding('p', { owner: { kind: 'ReplicaSet', name: 'p', uid: 'o' } }), '').spec['podType'],
    ).to.equal('');
  });

  it('leaves out a label that is too long, and keeps what it said in the spec', () => {
    const [subnet, node] = ['s'.repeat(64), `n${'.long'.repeat(20)}`];
    const { metadata, spec } = ipManifest(holding('p', { subnet }), node);
    expect(metadata.labels).to.deep.equal({ 'ovn.kubernetes.io/ip_reserved': 'false' });
    expect(spec).to.include({ subnet, nodeName: node });
  });

  it('says whose it is where its name cannot', () => {
    const pod = `p${'.long'.repeat(50)}`;
    const { metadata, spec } = ipManifest(holding(pod), '');
    expect(metadata.name).to.have.length.at.most(253);
    expect(metadata.annotations).to.deep.equal({
      'ipledger.io/allocation': '7',
      'ipledger.io/name': `${pod}.default.macvlan.default`,
    });
    expect(spec).to.include({ podName: pod, namespace: 'default' });
  });

  it('is right when it says all that it must, whatever others added', () => {
    const manifest = ipManifest(holding('p'), '');
    expect(shows(asObject(manifest, { labels: { ...manifest.metadata.labels, more: 'x' } }), manifest)).to.equal(true);
    expect(shows(asObject(manifest), ipManifest(holding('p'), 'node-1'))).to.equal(false);
    expect(shows(asObject({ ...manifest, spec: { ...manifest.spec, attachIps: ['x'] } }), manifest)).to.equal(false);
    expect(shows(asObject(manifest, { labels: {} }), manifest)).to.equal(false);
  });
});
