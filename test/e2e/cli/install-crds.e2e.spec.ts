/**
 * Tests `ipledger install-crds` on a real API server, beside the CustomResourceDefinitions of
 * Multus and Kube-OVN.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import { type Cluster, startCluster } from '../../harness/kubernetes/cluster.ts';
import { applyCrds, multusCrdFile } from '../../harness/kubernetes/kubectl.ts';
import { crdFolder } from '../../harness/paths.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import { openRun, type Run } from '../../harness/run.ts';

/**
 * Makes a definition in Kube-OVN's form: it prunes unknown fields, counts in numbers, and has
 * fields that ipledger does not know.
 */
const kubeOvnDefinition = (
  plural: string,
  kind: string,
  { spec, status, subresources }: { spec: object; status: object; subresources?: object },
) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.kubeovn.io`, labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
  spec: {
    group: 'kubeovn.io',
    scope: 'Cluster',
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List`, shortNames: [`ovn${plural}`] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        ...(subresources && { subresources }),
        additionalPrinterColumns: [{ name: 'Mine', type: 'string', jsonPath: '.spec.mine' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: spec }, status: { type: 'object', properties: status } },
          },
        },
      },
    ],
  },
});
const text = { type: 'string' };
const kubeOvn = [
  kubeOvnDefinition('subnets', 'Subnet', {
    spec: { cidrBlock: text, mine: text, vpc: text },
    status: { v4usingIPs: { type: 'number' } },
    subresources: { status: {} },
  }),
  // Has no status subresource: Kube-OVN's controller writes a Vip as a whole.
  kubeOvnDefinition('vips', 'Vip', { spec: { subnet: text, mine: text }, status: { ready: { type: 'boolean' } } }),
];

interface Definition {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Record<string, string>;
    readonly resourceVersion: string;
  };
  readonly spec: {
    readonly names: { readonly shortNames?: readonly string[] };
    readonly versions: readonly { readonly subresources?: object }[];
  };
}

describe('ipledger install-crds', function () {
  this.timeout(120_000);
  let run: Run;
  let cluster: Cluster;
  before(async () => {
    run = openRun();
    cluster = await startCluster(run, { crds: false, nodes: [], controllers: false });
    await applyCrds(cluster.kubectl, [multusCrdFile]);
  });
  after(() => run?.end());

  const installCrds = (path = crdFolder): Promise<CommandResult> =>
    runIpledger(['install-crds', path], { kubeconfig: cluster.kubeconfig });
  const read = async (): Promise<Map<string, Definition>> => {
    const definitions = (await cluster.get(['crd'])) as Definition[];
    return new Map(definitions.map((each) => [each.metadata.name, each]));
  };
  const asDocuments = (objects: readonly object[]): string =>
    objects.map((object) => `---\n${stringify(object)}`).join('');

  it('ipledger install-crds changes nothing if one definition conflicts, and names the definition and the field', async () => {
    const [subnets] = kubeOvn as [(typeof kubeOvn)[number]];
    const clashing = { ...subnets, spec: { ...subnets.spec, scope: 'Namespaced' } };
    await cluster.apply(asDocuments([clashing]));
    const { code, stderr } = await installCrds();
    expect(code, stderr).to.equal(1);
    expect(stderr).to.contain('CustomResourceDefinition subnets.kubeovn.io: spec.scope is "Namespaced"');
    expect(stderr)
      .to.contain('ipledger needs "Cluster": update the program that installed it')
      .and.contain('Nothing was changed');
    expect([...(await read()).keys()]).to.not.include('ips.kubeovn.io');
    await cluster.kubectl(['delete', 'crd', 'subnets.kubeovn.io']);
  });

  it('ipledger install-crds creates the missing definitions, and extends Kube-OVN’s definitions without a loss', async () => {
    await cluster.apply(asDocuments(kubeOvn));
    const kept = { cidrBlock: '10.8.0.0/24', mine: 'kept', vpc: 'same' };
    const subnet = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 'same' }, spec: kept };
    await cluster.apply(asDocuments([subnet]));
    const multus = (await read()).get('network-attachment-definitions.k8s.cni.cncf.io');
    const { code, stdout, stderr } = await installCrds();
    expect(code, stderr).to.equal(0);
    expect(stdout)
      .to.match(/^subnets\.kubeovn\.io +extended +Helm$/m)
      .and.match(/^ips\.kubeovn\.io +created +ipledger$/m);

    const after = await read();
    expect(after.get('network-attachment-definitions.k8s.cni.cncf.io')).to.deep.equal(multus);
    const names = after.get('subnets.kubeovn.io')?.spec.names.shortNames;
    expect(names).to.deep.equal(['ovnsubnets']);
    expect(after.get('vips.kubeovn.io')?.spec.versions[0]).to.not.have.property('subresources');
    // Has a vpc that a rule of ipledger refuses: the object belongs to Kube-OVN.
    const spec = { ...kept, cooldownSeconds: 5, namespaceSelectors: [{ matchLabels: { a: 'b' } }] };
    await cluster.apply(asDocuments([{ ...subnet, spec }]));
    expect(await cluster.get(['ovnsubnets', 'same'])).to.have.deep.property('spec', spec);
  });

  it('ipledger install-crds changes nothing when repeated, and replaces the rules of a definition with its label', async () => {
    const before = await read();
    const { stdout } = await installCrds();
    expect(stdout).to.not.contain('extended').and.not.contain('created');
    expect(await read()).to.deep.equal(before);
    await cluster.kubectl(['label', 'crd', 'vips.kubeovn.io', 'app.kubernetes.io/managed-by=ipledger', '--overwrite']);
    expect((await installCrds()).stdout).to.match(/^vips\.kubeovn\.io +extended +ipledger$/m);
    expect((await read()).get('vips.kubeovn.io')?.spec.versions[0]?.subresources).to.deep.equal({ status: {} });
  });

  it('ipledger install-crds reads files of at most a megabyte, and refuses files without a definition', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ipledger-crds-'));
    writeFileSync(join(folder, 'other.yaml'), 'kind: ConfigMap\n');
    expect(await installCrds(folder))
      .to.include({ code: 2 })
      .and.property('stderr')
      .to.contain('no CustomResourceDefinition');
    writeFileSync(join(folder, 'large.yaml'), `# ${'x'.repeat(1 << 20)}\n`);
    expect(await installCrds(folder))
      .to.property('stderr')
      .to.contain('at most 1048576 are read');
    expect(await installCrds(join(folder, 'none')))
      .to.property('stderr')
      .to.contain('cannot be read');
  });
});
