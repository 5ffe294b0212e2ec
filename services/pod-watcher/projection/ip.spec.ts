import { expect } from 'chai';
import { holding } from '../fakes.ts';
import { ips } from '../kubernetes/objects.ts';
import { canBeNamed, ipManifest, ipName, shows } from './ip.ts';

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
    expect(ipManifest(holding('web-0', { ownerKind: 'StatefulSet' }), '').spec['podType']).to.equal('StatefulSet');
    expect(ipManifest(holding('p', { ownerKind: 'ReplicaSet' }), '').spec['podType']).to.equal('');
  });

  it('is named after Pod, namespace and provider, and a further attachment after its ordinal', () => {
    const named = (provider: string, ordinal = 0) => ipName({ pod: 'p', namespace: 'ns', provider, ordinal });
    expect(named('ovn')).to.equal('p.ns');
    expect(named('macvlan.default')).to.equal('p.ns.macvlan.default');
    expect(named('net.default.ovn.net1')).to.equal('p.ns.net.default.ovn.net1');
    expect(named('macvlan.default', 1)).to.equal('p.ns.macvlan.default.1');
  });

  it('leaves out a label that is too long, and keeps what it said in the spec', () => {
    const [subnet, node] = ['s'.repeat(64), `n${'.long'.repeat(20)}`];
    const { metadata, spec } = ipManifest(holding('p', { subnet }), node);
    expect(metadata.labels).to.deep.equal({ 'ovn.kubernetes.io/ip_reserved': 'false' });
    expect(spec).to.include({ subnet, nodeName: node });
  });

  it('cannot have a name of more than 253 characters', () => {
    expect(canBeNamed('n'.repeat(253))).to.equal(true);
    expect(canBeNamed('n'.repeat(254))).to.equal(false);
  });

  it('is right when it says all that it must, whatever others added', () => {
    const manifest = ipManifest(holding('p'), '');
    expect(shows(asObject(manifest, { labels: { ...manifest.metadata.labels, more: 'x' } }), manifest)).to.equal(true);
    expect(shows(asObject(manifest), ipManifest(holding('p'), 'node-1'))).to.equal(false);
    expect(shows(asObject({ ...manifest, spec: { ...manifest.spec, attachIps: ['x'] } }), manifest)).to.equal(false);
    expect(shows(asObject(manifest, { labels: {} }), manifest)).to.equal(false);
  });
});
