/**
 * `make chart`: writes the CustomResourceDefinitions and rbac.yaml into the chart, and renders
 * deploy/single and deploy/ha from it.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crdFiles } from '../harness/kubernetes/kubectl.ts';
import { ownDefinitions } from '../harness/kubernetes/own-definitions.ts';
import { root } from '../harness/paths.ts';
import { chartFolder, renderChart, renderedFolders, withoutHooks } from './render-chart.ts';

const crds = join(chartFolder, 'files', 'crds');
rmSync(crds, { recursive: true, force: true });
mkdirSync(crds);
for (const file of crdFiles()) cpSync(file, join(crds, basename(file)));
const besideKubeOvn = join(chartFolder, 'files', 'crds-beside-kube-ovn');
rmSync(besideKubeOvn, { recursive: true, force: true });
mkdirSync(besideKubeOvn);
for (const [name, text] of ownDefinitions()) writeFileSync(join(besideKubeOvn, name), text);
cpSync(join(root, 'deploy', 'rbac.yaml'), join(chartFolder, 'files', 'rbac.yaml'));

for (const name of renderedFolders) {
  const folder = join(root, 'deploy', name);
  writeFileSync(join(folder, 'ipledger.yaml'), await renderChart([join(folder, 'values.yaml')], withoutHooks));
}
