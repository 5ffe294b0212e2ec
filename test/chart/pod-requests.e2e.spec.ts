/**
 * The admission policy for requests of Pods, on a real API server: it refuses what the pod-watcher
 * would refuse, and nothing else.
 */
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { requestRows } from '../../services/pod-watcher/kubernetes/objects/annotation-table.ts';
import { noConstraints } from '../../services/pod-watcher/kubernetes/objects/annotation-values.ts';
import { parseNetworkSelections } from '../../services/pod-watcher/controllers/pods/planning/network-selections.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { startCluster, type Cluster } from '../harness/kubernetes/cluster.ts';
import { root } from '../harness/paths.ts';
import { openRun, type Run } from '../harness/run.ts';
import { parseManifests, renderChart } from './render-chart.ts';

const networks = 'k8s.v1.cni.cncf.io/networks';
const keyOf = (suffix: string): string => `lan.default.kubernetes.io/${suffix}`;

/** Parses a value of an annotation as the pod-watcher does. */
function parse(suffix: string, value: string): { readonly ok: boolean } | undefined {
  if (suffix === networks) return parseNetworkSelections({ namespace: 'default', annotations: { [networks]: value } });
  const row = requestRows.find((each) => each.suffix === suffix);
  return row?.parse(value, 'k', { pod: 'default/p', constraints: noConstraints });
}

const valid: readonly (readonly [suffix: string, value: string])[] = [
  ['ip_address', '10.0.0.9'],
  ['ip_address', ' 10.0.0.9, FD00::9 '],
  ['mac_address', '02:00:00:53:6B:bb'],
  ['mac_address', '02-00-00-53-6b-bb'],
  ['mac_address', '0200.0053.6bbb'],
  ['ip_family', 'ipv6'],
  ['ip_pool', '10.0.0.9,10.0.0.10'],
  ['ip_pool', '10.0.0.9,fd00::9; 10.0.0.10,fd00::10'],
  ['ip_pool', 'pool-1'],
  ['ingress_rate', '2.5'],
  [networks, 'lan, other/lan2@net1'],
  [networks, '[{"name": "lan"}]'],
];

const invalid: readonly (readonly [suffix: string, value: string])[] = [
  ['ip_address', '10.0.0.300'],
  ['ip_address', '10.0.0.9/24'],
  ['ip_address', '10.0.0.9,10.0.0.10'],
  ['ip_address', '10.0.0.9,fd00::9,fd00::a'],
  ['ip_address', 'fe80::1%eth0'],
  ['ip_address', '::ffff:10.0.0.1'],
  ['ip_address', '010.0.0.1'],
  ['mac_address', '02:00:00:53:6b'],
  ['mac_address', '01:00:5e:00:00:01'],
  ['mac_address', '02:00-00:53:6b:bb'],
  ['ip_family', 'IPv4'],
  ['ip_pool', '10.0.0.9;'],
  ['ip_pool', '10.0.0.1..10.0.0.9'],
  ['ip_pool', 'pool-1,pool-2'],
  ['ip_pool', ' '],
  ['ingress_rate', '3M'],
  [networks, 'lan@net1@net2'],
  [networks, 'Lan'],
];

const fullKey = (suffix: string): string => (suffix === networks ? networks : keyOf(suffix));
const template = (annotations: object) => ({
  metadata: { labels: { app: 'web' }, annotations },
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'none' }] },
});

describe('The admission policy for requests of Pods', function () {
  this.timeout(120_000);
  let run: Run;
  let cluster: Cluster;
  before(async () => {
    run = openRun();
    cluster = await startCluster(run, { controllers: false });
    const manifests = parseManifests(await renderChart([join(root, 'test/chart/values/insecure.yaml')]));
    const policy = manifests.filter(({ metadata }) => metadata.name === 'ipledger-pod-requests');
    await cluster.apply(policy.map((each) => stringify(each)).join('---\n'));
    // The API server begins to enforce a new policy some time after it exists
    await eventually(async () => expect(await create('ip_family', 'never')).to.contain('denied'));
  });
  after(() => run.end());

  /** Applies an object. Resolves to "" if the API server accepts it, else to the answer. */
  const apply = async (object: object): Promise<string> => {
    const args = ['create', '--dry-run=server', '-f', '-'];
    return cluster.kubectl(args, stringify(object)).then(
      () => '',
      (error: unknown) => String(error),
    );
  };
  const create = (suffix: string, value: string): Promise<string> =>
    apply({
      apiVersion: 'v1',
      kind: 'Pod',
      spec: template({}).spec,
      metadata: { name: 'web', namespace: 'default', annotations: { [fullKey(suffix)]: value } },
    });

  it('The admission policy for requests of Pods accepts each request that the pod-watcher accepts', async () => {
    const answers = await Promise.all(
      valid.map(async ([suffix, value]) => {
        expect(parse(suffix, value)?.ok, `${suffix}: ${value}`).to.equal(true);
        return create(suffix, value);
      }),
    );
    expect(answers.filter((each) => each !== '')).to.deep.equal([]);
  });

  it('The admission policy for requests of Pods refuses each request that the pod-watcher would refuse, and names annotation, value and form', async () => {
    await Promise.all(
      invalid.map(async ([suffix, value]) => {
        expect(parse(suffix, value)?.ok, `${suffix}: ${value}`).to.equal(false);
        const answer = await create(suffix, value);
        expect(answer, `${suffix}: ${value}`)
          .to.contain(`annotation ${fullKey(suffix)} is`)
          .and.match(/: (write|list) /);
      }),
    );
  });

  it('The admission policy for requests of Pods refuses the template of a workload, and an edit of the template', async () => {
    const annotations = { [keyOf('mac_address.net1')]: '02:00' };
    const spec = { selector: { matchLabels: { app: 'web' } }, template: template(annotations) };
    const alwaysRestarted = { ...spec.template, spec: { ...spec.template.spec, restartPolicy: 'Always' } };
    const objects = [
      { apiVersion: 'apps/v1', kind: 'Deployment', spec: { ...spec, template: alwaysRestarted } },
      { apiVersion: 'batch/v1', kind: 'Job', spec: { template: spec.template } },
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        spec: { schedule: '@daily', jobTemplate: { spec: { template: spec.template } } },
      },
    ];
    for (const object of objects)
      expect(await apply({ ...object, metadata: { name: 'web', namespace: 'default' } }), object.kind).to.contain(
        `annotation ${keyOf('mac_address.net1')} is "02:00": write six octets`,
      );
  });

  it('The admission policy for requests of Pods permits the scaling of a workload whose invalid annotation is older than the policy', async () => {
    const policyBinding = 'validatingadmissionpolicybinding/ipledger-pod-requests';
    const annotations = { [keyOf('ip_family')]: 'IPv4' };
    const pod = { ...template(annotations), spec: { containers: [{ name: 'c', image: 'none' }] } };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'web' } }, template: pod };
    await cluster.kubectl(['patch', policyBinding, '--type=merge', '-p', '{"spec":{"validationActions":["Audit"]}}']);
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'old', namespace: 'default' },
      spec,
    };
    await eventually(() => cluster.apply(stringify(deployment)));
    await cluster.kubectl(['patch', policyBinding, '--type=merge', '-p', '{"spec":{"validationActions":["Deny"]}}']);
    await eventually(async () => expect(await create('ip_family', 'never')).to.contain('denied'));
    const patch = (body: object): Promise<string> =>
      cluster.kubectl(['patch', 'deployment/old', '-n', 'default', '--type=merge', '-p', JSON.stringify(body)]);
    await patch({ spec: { replicas: 1 } });
    const other = { spec: { template: { metadata: { annotations: { [keyOf('ip_family')]: 'dual' } } } } };
    expect(String(await patch(other).catch((error: unknown) => error))).to.contain('is "dual": write ipv4 or ipv6');
  });
});
