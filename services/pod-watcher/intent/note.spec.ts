import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { root } from '../../../test/harness/paths.ts';
import { plan } from './plan.fixture.ts';
import { notServed } from './why.ts';

describe('the Event of what is not served', () => {
  it('is a Warning for a network with an empty configuration: what failed, why, what to do', () => {
    const { type, reason, message } = notServed(plan('empty,macvlan'));
    expect([type, reason]).to.deep.equal(['Warning', 'PodNetworkNotServed']);
    expect(message).to.match(
      /^default\/empty is not served: its spec\.config is empty, and Multus refuses the Pod .*\. Write a CNI configuration into spec\.config .*, or remove it from annotation k8s\.v1\.cni\.cncf\.io\/networks$/,
    );
    expect(plan('empty,macvlan').attachments, 'the others are served').to.have.length(1);
  });

  it('is Normal for a network of another IPAM plugin, and states warnings first', () => {
    expect(notServed(plan('local')).type).to.equal('Normal');
    const { type, message } = notServed(plan('local,empty'));
    expect(type).to.equal('Warning');
    expect(message).to.match(/^default\/empty .*; default\/local is not served here: /);
  });

  for (const [file, key] of [
    ['01-pod-ovn-network', 'ovnNetwork'],
    ['02-pod-ovn-static', 'ovn'],
  ] as const)
    it(`is a Warning for the Pod of networking-plugin/${file}, whose annotation no plugin reads`, () => {
      const path = join(root, 'test', 'manifests', 'networking-plugin', `${file}.yaml`);
      const { metadata } = parse(readFileSync(path, 'utf8')) as { metadata: { annotations: Record<string, string> } };
      const planned = plan('', metadata.annotations);
      const { type, message } = notServed(planned);
      expect(type).to.equal('Warning');
      expect(message).to.match(
        new RegExp(`^annotation ${key} is not served: ipledger allocates .*no address by it\\. Create a NetworkAttach`),
      );
      expect(planned).to.deep.include({ attachments: [], problems: [] });
      expect(plan('macvlan', metadata.annotations).attachments, 'its networks are served').to.have.length(1);
    });
});
