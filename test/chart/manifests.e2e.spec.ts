/**
 * The manifests of the chart on a real API server, and the programs with the permissions that they
 * give.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { documentedCommands } from '../docs/documented-commands.ts';
import { runDocumented } from '../docs/run-documented.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { createKubernetesClient } from '../harness/kubernetes/kubernetes-client.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { applyCertManagerCrds } from '../harness/kubernetes/cert-manager.ts';
import { type Cluster, startCluster } from '../harness/kubernetes/cluster.ts';
import { applyCrds } from '../harness/kubernetes/kubectl.ts';
import { root } from '../harness/paths.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { startServer } from '../harness/processes/server.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, watcherLaunch } from '../harness/services.ts';
import { startLedger } from '../harness/stack.ts';
import { findPrometheusOperatorCrds } from './prometheus-operator-crds.ts';
import { type Manifest, namespace, parseManifests, renderChart, renderedFolders } from './render-chart.ts';
import { valueFiles } from './value-files.ts';

const asText = (manifests: readonly Manifest[]): string => manifests.map((each) => stringify(each)).join('---\n');
const accountGroups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
const accountOf = (name: string): string => `system:serviceaccount:${namespace}:${name}`;

describe('The chart on a real API server', function () {
  this.timeout(300_000);
  let run: Run;
  let cluster: Cluster;
  let allocator: AllocatorServer;
  before(async () => {
    run = openRun();
    // This cluster gets further CustomResourceDefinitions, so no other spec can use it
    [cluster, [, allocator]] = await Promise.all([startCluster(run, { controllers: false }), startLedger(run)]);
    await cluster.apply(stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }));
    await applyCertManagerCrds(cluster.kubectl);
    await applyCrds(cluster.kubectl, await findPrometheusOperatorCrds());
    const manifests = parseManifests(
      await renderChart([join(root, 'deploy', 'ha', 'values.yaml'), join(root, 'test/chart/values/ovn.yaml')]),
    );
    const kinds = /^(ServiceAccount|(Cluster)?Role(Binding)?|ValidatingAdmissionPolicy(Binding)?)$/;
    await cluster.apply(asText(manifests.filter(({ kind }) => kinds.test(kind))));
    for (const role of ['reader', 'recoverer', 'uninstaller'])
      await cluster.kubectl(['create', 'clusterrolebinding', role, `--clusterrole=ipledger-${role}`, `--user=${role}`]);
  });
  after(() => run.end());

  for (const file of valueFiles)
    it(`The chart on a real API server has valid manifests with ${file.slice(root.length + 1)}`, async () => {
      const manifests = parseManifests(await renderChart([file]));
      const args = ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f', '-'];
      const answer = await cluster.kubectl(args, asText(manifests));
      expect(answer.trim().split('\n')).to.have.length(manifests.length);
    });
  for (const name of renderedFolders)
    it(`The chart on a real API server accepts kubectl apply -k deploy/${name}`, async () => {
      const commands = documentedCommands('docs/install.md', 'kustomize')
        .replace('apply', 'apply --force-conflicts --dry-run=server')
        .replace('deploy/ha', `deploy/${name}`);
      const env = { KUBECONFIG: cluster.kubeconfig };
      const { stdout: answer } = await runDocumented(run, commands, env, { folder: root });
      expect(answer).to.contain('daemonset.apps/ipledger-node-agent serverside-applied (server dry run)');
    });

  const isAllowed = async (user: string, verb: string, resource: string, flags: string[] = []): Promise<boolean> => {
    const groups = user.startsWith('system:') ? accountGroups : [];
    const identity = [`--as=${user}`, ...groups.map((group) => `--as-group=${group}`)];
    // `kubectl auth can-i` exits with 1 for "no"
    const review = cluster.kubectl(['auth', 'can-i', verb, resource, ...identity, ...flags]);
    return review.then(
      () => true,
      () => false,
    );
  };

  it('The chart on a real API server lets the pod-watcher serve a Pod and become the active watcher', async () => {
    const kubeconfig = await cluster.kubeconfigFor(accountOf('ipledger-pod-watcher'), accountGroups);
    const healthListen = `127.0.0.1:${await findFreePort()}`;
    const launch = watcherLaunch({ name: 'pod-watcher', allocator: allocator.endpoint, kubeconfig, healthListen });
    const watcher = await startServer(run, { ...launch, env: { ...launch.env, IPLEDGER_NAMESPACE: namespace } });
    const spec = { protocol: 'IPv4', cidrBlock: '10.8.0.0/24', gateway: '10.8.0.1', provider: 'lan.default' };
    const config = JSON.stringify({
      cniVersion: '1.0.0',
      type: 'macvlan',
      ipam: { type: 'kube-ovn', provider: 'lan.default' },
    });
    const nad = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' };
    await cluster.apply(
      [
        { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 'lan' }, spec },
        { ...nad, metadata: { name: 'lan', namespace: 'default' }, spec: { config } },
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'first', namespace: 'default', annotations: { 'k8s.v1.cni.cncf.io/networks': 'lan' } },
          spec: { containers: [{ name: 'c', image: 'none' }] },
        },
      ]
        .map((object) => stringify(object))
        .join('---\n'),
    );
    await eventually(async () => {
      const pod = (await cluster.get(['pod', 'first'])) as { metadata: { annotations: Record<string, string> } };
      expect(pod.metadata.annotations['lan.default.kubernetes.io/ip_address']).to.match(/^10\.8\.0\./);
    });
    const lease = await cluster.get(['lease', '-n', namespace, 'ipledger-pod-watcher']);
    expect(lease).to.have.nested.property('spec.holderIdentity');
    expect(readFileSync(watcher.log, 'utf8')).not.to.match(/forbidden/i);
  });

  it('The chart on a real API server lets a reader run check and why', async () => {
    const kubeconfig = await cluster.kubeconfigFor('reader');
    // The watcher writes the status of the Subnet after the annotations of the Pod.
    await eventually(async () => {
      const check = await runIpledger(['check'], { allocator, kubeconfig });
      expect([check.code, check.stderr], check.stdout).to.deep.equal([0, '']);
    });
    const why = await runIpledger(['why', 'default/first'], { allocator, kubeconfig });
    expect([why.code, why.stderr], why.stdout).to.deep.equal([0, '']);
  });

  it('The chart on a real API server lets the pod-watcher change its own annotations of Pods and namespaces, and nothing else of them', async () => {
    const watcher = accountOf('ipledger-pod-watcher');
    const identity = [`--as=${watcher}`, ...accountGroups.map((group) => `--as-group=${group}`)];
    const patch = (object: string, body: object): Promise<string> =>
      cluster.kubectl(['patch', ...object.split(' '), '--type=merge', '-p', JSON.stringify(body), ...identity]).then(
        () => 'accepted',
        (error: unknown) => String(error),
      );
    const pod = { metadata: { name: 'guarded', namespace: 'default', labels: { app: 'a' } } };
    const spec = { containers: [{ name: 'c', image: 'none' }] };
    await cluster.apply(stringify({ apiVersion: 'v1', kind: 'Pod', ...pod, spec }));
    await cluster.apply(stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'guarded' } }));
    const image = { spec: { containers: [{ name: 'c', image: 'evil' }] } };
    // The API server enforces a policy some time after it was created
    await eventually(async () => expect(await patch('pod guarded', image)).to.contain('ipledger-pod-watcher'));
    const refused = [
      ['pod guarded', { spec: { activeDeadlineSeconds: 1 } }],
      ['pod guarded', { metadata: { labels: { app: 'b' } } }],
      ['pod guarded', { metadata: { finalizers: ['ipledger.io/ledger'] } }],
      ['pod guarded', { metadata: { annotations: { 'k8s.v1.cni.cncf.io/networks': 'lan' } } }],
      ['pod guarded', { metadata: { annotations: { 'sidecar.istio.io/inject': 'false' } } }],
      ['namespace guarded', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } }],
      ['namespace guarded', { metadata: { annotations: { 'scheduler.alpha.kubernetes.io/node-selector': 'a=b' } } }],
      ['namespace guarded', { metadata: { finalizers: ['ipledger.io/ledger'] } }],
    ] as const;
    for (const [object, body] of refused)
      expect(await patch(object, body), JSON.stringify(body)).to.contain(
        "ValidatingAdmissionPolicy 'ipledger-pod-watcher",
      );
    const written = {
      'lan.default.kubernetes.io/ip_address': '10.8.0.9',
      'lan.default.kubernetes.io/mac_address.net1': '02:00:00:00:00:01',
      'lan.default.ovn.kubernetes.io/allocated': 'true',
      'k8s.plugin.opnfv.org/ovnInterfaces': '[]',
      ovn: '{}',
    };
    expect(await patch('pod guarded', { metadata: { annotations: written } })).to.equal('accepted');
    const removed = Object.fromEntries(Object.keys(written).map((key) => [key, null]));
    expect(await patch('pod guarded', { metadata: { annotations: removed } })).to.equal('accepted');
    const listed = { 'ovn.kubernetes.io/logical_switch': 'lan', 'ipledger.io/subnets': 'lan' };
    expect(await patch('namespace guarded', { metadata: { annotations: listed } })).to.equal('accepted');
    // A tenant left the spec out. The pod-watcher must still be able to remove its finalizer
    const claim = { apiVersion: 'k8s.cni.cncf.io/v1alpha1', kind: 'IPAMClaim', metadata: { name: 'bare' } };
    await cluster.apply(stringify(claim));
    const account = createKubernetesClient(await cluster.kubeconfigFor(watcher, accountGroups), run.signal);
    for (const finalizers of [['ipledger.io/ledger'], null])
      expect((await account.patch('IPAMClaim', 'bare', { metadata: { finalizers } })).spec).to.equal(undefined);
    const change = account.patch('IPAMClaim', 'bare', { spec: { network: 'lan', interface: 'net1' } });
    expect(String(await change.catch((error: unknown) => error))).to.contain('changes no spec of an IPAMClaim');
  });

  it('The chart on a real API server gives each account and each person only the permissions of its role', async () => {
    const [watcher, agent] = [accountOf('ipledger-pod-watcher'), accountOf('ipledger-node-agent')];
    const [allocatorAccount, projector] = [accountOf('ipledger-allocator'), accountOf('ipledger-ovn-projector')];
    const programs = [accountOf('ipledger-etcd'), accountOf('ipledger-read-model')];
    const refused: readonly (readonly [user: string, verb: string, resource: string, flags?: string[]])[] = [
      ...[watcher, agent, allocatorAccount, projector, ...programs].flatMap(
        (user): [string, string, string, string[]][] => [
          [user, 'get', 'secrets', ['-n', namespace]],
          [user, 'create', 'pods', ['-n', namespace]],
          [user, 'create', 'serviceaccounts/token', ['-n', namespace]],
          [user, 'update', 'clusterroles', []],
        ],
      ),
      [agent, 'patch', 'provider-networks.kubeovn.io'],
      [watcher, 'delete', 'pods'],
      [watcher, 'delete', 'vips.kubeovn.io'],
      [watcher, 'update', 'leases.coordination.k8s.io/another', ['-n', namespace]],
      [watcher, 'get', 'configmaps/kube-root-ca.crt', ['-n', namespace]],
      [agent, 'list', 'pods', ['-A']],
      [agent, 'list', 'events', ['-A']],
      [agent, 'get', 'events', ['-A']],
      [agent, 'patch', 'pods'],
      [agent, 'patch', 'nodes'],
      [allocatorAccount, 'get', 'pods'],
      [projector, 'patch', 'pods'],
      [projector, 'patch', 'subnets.kubeovn.io'],
      [projector, 'update', 'leases.coordination.k8s.io/ipledger-pod-watcher', ['-n', namespace]],
      [agent, 'create', 'tokenreviews.authentication.k8s.io'],
      ['reader', 'patch', 'subnets.kubeovn.io'],
      ['reader', 'delete', 'ips.kubeovn.io'],
      ['recoverer', 'delete', 'subnets.kubeovn.io'],
      ['recoverer', 'patch', 'pods'],
      ['uninstaller', 'delete', 'customresourcedefinitions.apiextensions.k8s.io'],
    ];
    const permitted: string[] = [];
    for (const [user, verb, resource, flags] of refused)
      if (await isAllowed(user, verb, resource, flags)) permitted.push(`${user} ${verb} ${resource}`);
    expect(permitted).to.deep.equal([]);
    // A control that succeeds, so that the reviews above do not fail for another reason
    expect(await isAllowed(agent, 'get', 'pods')).to.be.true;
    expect(await isAllowed(agent, 'list', 'provider-networks.kubeovn.io')).to.be.true;
    expect(await isAllowed(agent, 'get', 'subnets.kubeovn.io')).to.be.true;
    expect(await isAllowed(allocatorAccount, 'create', 'tokenreviews.authentication.k8s.io')).to.be.true;
    expect(await isAllowed(projector, 'watch', 'vlans.kubeovn.io')).to.be.true;
    expect(await isAllowed('recoverer', 'delete', 'ips.kubeovn.io')).to.be.true;
  });
});
