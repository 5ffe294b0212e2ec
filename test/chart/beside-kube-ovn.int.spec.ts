/** The chart beside Kube-OVN. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ownDefinitions } from '../harness/kubernetes/own-definitions.ts';
import { root } from '../harness/paths.ts';
import { chartFolder, parseManifests, renderChart } from './render-chart.ts';

describe('The Helm chart beside Kube-OVN', () => {
  it('The Helm chart beside Kube-OVN gives the pod-watcher no right to change objects of Kube-OVN, and installs no CustomResourceDefinition of Kube-OVN', async () => {
    const manifests = parseManifests(await renderChart([join(root, 'test/chart/values/beside-kube-ovn.yaml')]));
    const ofKubeOvn = manifests
      .flatMap(({ rules = [] }) => rules)
      .filter(({ apiGroups = [] }) => apiGroups.includes('kubeovn.io'));
    expect(ofKubeOvn.map(({ resources, verbs }) => `${resources?.join()}: ${verbs?.join()}`)).to.deep.equal([
      'subnets,vlans: list,watch',
    ]);
    const definitions = manifests.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'ipledger-crds',
    );
    expect(JSON.stringify(definitions)).to.contain('subnets.ipam.ipledger.io').and.not.contain('.kubeovn.io');
    const [plugin] = manifests.flatMap(({ spec }) => spec?.template?.spec?.initContainers ?? []);
    expect(plugin?.command?.slice(-2)).to.deep.equal(['--name', 'ipledger']);
  });

  it('The Helm chart beside Kube-OVN has the CustomResourceDefinitions of deploy/crds in the group of ipledger', () => {
    const folder = join(chartFolder, 'files', 'crds-beside-kube-ovn');
    const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
    expect(files, 'they differ: run make chart').to.have.deep.members(ownDefinitions());
  });
});
