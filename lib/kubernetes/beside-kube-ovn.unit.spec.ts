import { expect } from 'chai';
import type { Api, ApiRequest } from './client/kubernetes-api.ts';
import { withoutKubeOvnAnnotations, withOwnObjects } from './beside-kube-ovn.ts';

describe('beside Kube-OVN the objects of ipledger', () => {
  const sent: Pick<ApiRequest, 'path' | 'body'>[] = [];
  const recorder: Api = {
    server: 'https://api',
    request: ({ path, body }) => Promise.resolve(void sent.push({ path, body })),
    async *stream(path) {
      sent.push({ path });
      await Promise.resolve();
      yield {};
    },
  };
  const api = withOwnObjects(recorder);
  const { signal } = new AbortController();
  const send = async (path: string, body?: unknown) => {
    sent.length = 0;
    await api.request({ method: 'PATCH', path, body, timeoutMs: 1, signal });
    return sent[0];
  };

  it('the objects of ipledger belong to a group that Kube-OVN does not read', async () => {
    for (const kind of ['subnets', 'ippools/a', 'vips/a/status', 'ips?limit=1'])
      expect(await send(`/apis/kubeovn.io/v1/${kind}`)).to.have.property('path', `/apis/ipam.ipledger.io/v1/${kind}`);
    for await (const event of api.stream('/apis/kubeovn.io/v1/subnets?watch=true', { silenceMs: 1, signal }))
      expect(event).to.deep.equal({});
    expect(sent.at(-1)?.path).to.equal('/apis/ipam.ipledger.io/v1/subnets?watch=true');
  });

  it('created objects and Events name the group of ipledger', async () => {
    const ip = { apiVersion: 'kubeovn.io/v1', kind: 'IP', spec: {} };
    expect((await send('/apis/kubeovn.io/v1/ips', ip))?.body).to.deep.equal({
      ...ip,
      apiVersion: 'ipam.ipledger.io/v1',
    });
    const event = { involvedObject: { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', name: 'lan' } };
    expect((await send('/api/v1/events', event))?.body).to.have.nested.property(
      'involvedObject.apiVersion',
      'ipam.ipledger.io/v1',
    );
  });

  it('objects of other kinds are unchanged', async () => {
    const patch = { metadata: { annotations: { a: 'b' } } };
    for (const path of ['/apis/kubeovn.io/v1/vlans', '/apis/kubeovn.io/v1/subnets-of-others', '/api/v1/pods'])
      expect(await send(path, patch)).to.deep.equal({ path, body: patch });
  });
});

describe('beside Kube-OVN a Pod', () => {
  it('beside Kube-OVN a Pod has no annotations of Kube-OVN’s own networks', () => {
    const kept = {
      'k8s.v1.cni.cncf.io/networks': 'lan',
      'lan.default.kubernetes.io/ip_address': '10.0.0.1',
      'ovn.default.kubernetes.io/ip_address': '10.0.0.2',
      'lan.ovn.kubernetes.io/ip_address': '10.0.0.4',
      'kubernetes.io/config.hash': 'abc',
    };
    const annotations = {
      ...kept,
      'ovn.kubernetes.io/allocated': 'true',
      'net.default.ovn.kubernetes.io/logical_switch': 'net',
      'net.default.ovn.net1.kubernetes.io/ip_address': '10.0.0.3',
    };
    expect(withoutKubeOvnAnnotations({ kind: 'Pod', metadata: { name: 'a', annotations } })).to.deep.equal({
      kind: 'Pod',
      metadata: { name: 'a', annotations: kept },
    });
  });
});
