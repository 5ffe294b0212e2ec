/** The Helm chart as text: lint, values, flags of the programs, and the rendered manifests. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ownGroup } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { ownDefinitions } from '../harness/kubernetes/own-definitions.ts';
import { expect } from 'chai';
import { parseDocument } from 'yaml';
import { grafanaJson } from '../../deploy/monitoring/dashboards/dashboard.ts';
import { dashboards } from '../../deploy/monitoring/dashboards/dashboards.ts';
import { podMonitor, ruleFile } from '../../deploy/monitoring/prometheus.ts';
import { crdFiles } from '../harness/kubernetes/kubectl.ts';
import { crdFolder, root } from '../harness/paths.ts';
import { agentFlags } from '../../build/bundle/bundle-programs.ts';
import { mustRun } from '../harness/processes/command.ts';
import {
  chartFolder,
  type Container,
  containersOf,
  helmPrograms,
  type Manifest,
  namespace,
  parseManifests,
  podSpecOf,
  renderChart,
  renderedFolders,
  runHelm,
  template,
  withoutArchive,
  withoutHooks,
} from './render-chart.ts';
import { valueFiles } from './value-files.ts';

/** A mistake in the values, and a part of the message that rejects it. */
const mistakes: readonly (readonly [title: string, settings: readonly string[], message: string])[] = [
  ['a misspelled name', ['--set=allocator.replica=3'], "additional properties 'replica' not allowed"],
  ['a number as text', ['--set-string=allocator.replicas=three'], "at '/allocator/replicas': got string"],
  ['an even number of etcd members', ['--set=etcd.managed.members=2'], "at '/etcd/managed/members'"],
  ['an unknown TLS mode', ['--set=tls.mode=off'], "at '/tls/mode'"],
  ['a size without a unit of Kubernetes', ['--set=etcd.managed.storage.size=8GB'], "at '/etcd/managed/storage/size'"],
  ['a folder that is not absolute', ['--set=agent.pluginFolder=opt/cni/bin'], "at '/agent/pluginFolder'"],
  [
    'OVN beside Kube-OVN',
    ['--set=besideKubeOvn=true', '--set=ovn.enabled=true', '--set=ovn.northbound.endpoints={tcp:10.0.0.1:6641}'],
    'Set ovn.enabled to false',
  ],
  [
    'the socket of Kube-OVN’s daemon beside it',
    ['--set=besideKubeOvn=true'],
    'Set agent.socketFolder to /run/ipledger',
  ],
  ['a collector without a scheme', ['--set=tracing.endpoint=collector:4318'], "at '/tracing/endpoint'"],
  ['a ratio above 1', ['--set=tracing.ratio=10'], "at '/tracing/ratio'"],
  ['a tag in the repository', ['--set=image.repository=ipledger:1.0'], "at '/image/repository'"],
  [
    'an endpoint without a scheme',
    ['--set=etcd.mode=external', '--set=etcd.external.endpoints={etcd:2379}'],
    "at '/etcd/external/endpoints/0'",
  ],
  ['external etcd without endpoints', ['--set=etcd.mode=external'], 'set etcd.external.endpoints'],
  [
    'endpoints of an etcd that is not used',
    ['--set=etcd.external.endpoints={https://etcd:2379}'],
    'etcd.external has values, but etcd.mode is managed',
  ],
  [
    'the replacement of the only member of etcd',
    ['--set=etcd.managed.members=1,etcd.managed.replaceMember=ipledger-etcd-0'],
    'With one member, restore a backup',
  ],
  [
    'plaintext to etcd',
    ['--set=etcd.mode=external', '--set=etcd.external.endpoints={http://etcd:2379}'],
    'which is plaintext',
  ],
  [
    'https to etcd without an authority',
    ['--set=etcd.mode=external', '--set=etcd.external.endpoints={https://etcd:2379}'],
    'set etcd.external.tlsSecret',
  ],
  ['Secrets without names', ['--set=tls.mode=secrets'], 'set tls.secrets.allocator and tls.secrets.watcher'],
  [
    'tokens without an authority',
    ['--set=tls.mode=secrets', '--set=tls.secrets.allocator=a,tls.secrets.watcher=b'],
    'set tls.secrets.agentAuthority',
  ],
  ['an object store without a bucket', ['--set=archive.type=s3'], 'archive.type is s3: set archive.s3.bucket'],
  [
    'an archive folder without a claim',
    ['--set=archive.type=folder'],
    'archive.type is folder: set archive.folder.existingClaim',
  ],
  ['OVN without endpoints', ['--set=ovn.enabled=true'], 'ovn.enabled is true: set ovn.northbound.endpoints'],
  [
    'endpoints of an OVN that is not used',
    ['--set=ovn.northbound.endpoints={tcp:10.0.0.1:6641}'],
    'ovn.northbound has values, but ovn.enabled is false',
  ],
  [
    'TLS to OVN without certificates',
    ['--set=ovn.enabled=true', '--set=ovn.northbound.endpoints={ssl:10.0.0.1:6641}'],
    'set ovn.northbound.tlsSecret',
  ],
  [
    'a socket as the northbound database, which no Pod can reach',
    ['--set=ovn.enabled=true', '--set=ovn.northbound.endpoints={unix:/run/ovn/ovnnb_db.sock}'],
    "at '/ovn/northbound/endpoints/0'",
  ],
  ['a bridge with a name of 16 characters', ['--set=ovn.agent.bridge=br-ovn-is-longer'], "at '/ovn/agent/bridge'"],
  ['a socket of Open vSwitch in the root folder', ['--set=ovn.agent.ovsDb=unix:/db.sock'], "at '/ovn/agent/ovsDb'"],
  [
    'an OVN projector without a Secret',
    [
      '--set=tls.mode=secrets',
      '--set=tls.secrets.allocator=a,tls.secrets.watcher=b,tls.secrets.agentAuthority=c',
      '--set=etcd.managed.secrets.server=d,etcd.managed.secrets.allocator=e,etcd.managed.secrets.root=f',
      '--set=ovn.enabled=true',
      '--set=ovn.northbound.endpoints={tcp:10.0.0.1:6641}',
    ],
    'set tls.secrets.ovnProjector',
  ],
  ['a console without a read model', ['--set=console.enabled=true'], 'the console needs readModel.enabled'],
  [
    'a PodMonitor of a Prometheus that may read no metrics',
    ['--set=monitoring.podMonitor=true'],
    'set networkPolicies.metricsNamespace',
  ],
  ['one port for probes and metrics of the agent', ['--set=agent.metricsPort=8081'], 'agent.metricsPort is agent'],
  [
    'operators without cert-manager',
    ['--set=tls.mode=insecure', '--set=tls.operators={anna}'],
    'need tls.mode certManager',
  ],
];

/** The names of objects that exist only with OVN. */
const ofOvn = /^ipledger-(ovn-projector|node-agent-ovn)/;

const hasOvn = (manifests: readonly Manifest[]): boolean =>
  manifests.some(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'ipledger-ovn-projector');

/** Returns rules with the API group of Kube-OVN's kinds, also for the chart beside Kube-OVN. */
const inGroupOfKubeOvn = (rules: Manifest['rules']): unknown =>
  rules && JSON.parse(JSON.stringify(rules).replaceAll(ownGroup, 'kubeovn.io'));

const names = ['allocator', 'pod-watcher', 'ovn-projector', 'node-agent', 'read-model', 'console'];
const programs = Object.fromEntries(names.map((name) => [`/app/${name}.mjs`, `services/${name}/main.ts`]));

/** Variables that no flag has; docs/security.md and docs/operations.md list them. */
const withoutFlag =
  /^(IPLEDGER_(TLS|ETCD|OVN)_(CA|CERT|KEY)|IPLEDGER_ETCD_(USER|PASSWORD_FILE)|IPLEDGER_ARCHIVE_ENDPOINT)$/;

describe('The Helm chart', function () {
  this.timeout(300_000);
  /** The manifests by value file. */
  const rendered = new Map<string, readonly Manifest[]>();
  before(async () => {
    for (const file of valueFiles) rendered.set(file, parseManifests(await renderChart([file])));
  });
  const allManifests = (): Manifest[] => [...rendered.values()].flat();
  const podSpecs = () => allManifests().flatMap((manifest) => podSpecOf(manifest) ?? []);
  const ownContainers = (): Container[] =>
    podSpecs().flatMap((spec) => containersOf(spec).filter(({ command }) => (command.at(-1) ?? '') in programs));

  for (const program of helmPrograms)
    it(`The Helm chart passes lint of ${program}`, async () => {
      const lint = ['lint', '--strict', chartFolder, `--values=${withoutArchive}`];
      const { code, stdout, stderr } = await runHelm(lint, program);
      expect(code, stdout + stderr).to.equal(0);
    });

  it('The Helm chart renders the same objects with Helm 3 and Helm 4', async () => {
    for (const file of valueFiles) {
      const [four, three] = await Promise.all(helmPrograms.map((program) => template([file], [], program)));
      const sorted = (text = ''): string[] =>
        parseManifests(text)
          .map((each) => JSON.stringify(each))
          .sort();
      expect(sorted(three?.stdout), `${file}: ${three?.stderr}`).to.deep.equal(sorted(four?.stdout));
    }
  });

  for (const [title, settings, message] of mistakes)
    it(`The Helm chart rejects ${title}`, async () => {
      const { code, stderr } = await template([], settings);
      expect(code).to.equal(1);
      expect(stderr).to.contain(message);
    });

  it('The Helm chart sets only environment variables that the programs have', async () => {
    const helps = new Map<string, string>();
    for (const [bundle, main] of Object.entries(programs))
      helps.set(bundle, await mustRun(process.execPath, [join(root, main), '--help']));
    const unknown = ownContainers().flatMap(({ command, env = [] }) =>
      env
        .map(({ name }) => name)
        .filter((name) => name.startsWith('IPLEDGER_') && !withoutFlag.test(name))
        .filter((name) => !(helps.get(command.at(-1) ?? '') ?? '').replaceAll(/\s+/g, '').includes(name)),
    );
    expect(ownContainers().length).to.be.greaterThan(10);
    expect(unknown).to.deep.equal([]);
  });

  it('The Helm chart gives the agents no right at the Kubernetes API with agent.readPods=false, and else only to get Pods and machines', async () => {
    const rightsOf = async (settings: readonly string[]) =>
      parseManifests(await renderChart([], settings))
        .filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.startsWith('ipledger-node-agent'))
        .flatMap(({ rules = [] }) => rules)
        .flatMap(({ resources = [], verbs = [] }) => resources.map((resource) => `${verbs.join()} ${resource}`));
    expect(await rightsOf([])).to.deep.equal(['get pods', 'get virtualmachineinstances']);
    expect(await rightsOf(['--set=agent.readPods=false'])).to.deep.equal([]);
  });

  it('The Helm chart starts the agent with the flags of Node that are measured', () => {
    const commands = ownContainers().map(({ command }) => command.slice(1));
    const agents = commands.filter((command) => command.includes('/app/node-agent.mjs'));
    expect(agents.length).to.equal(valueFiles.length);
    for (const command of agents) expect(command).to.deep.equal([...agentFlags, '/app/node-agent.mjs']);
  });

  it('The Helm chart gives each container requests, a memory limit, a read-only root, no more privileges, and its last lines as message', () => {
    const open = podSpecs()
      .flatMap(containersOf)
      .filter(({ securityContext: security, resources, terminationMessagePolicy }) => {
        if (terminationMessagePolicy !== 'FallbackToLogsOnError') return true;
        const isClosed =
          security?.readOnlyRootFilesystem === true &&
          security.allowPrivilegeEscalation === false &&
          security.capabilities?.drop?.join() === 'ALL';
        return !isClosed || !resources?.requests || !resources.limits;
      });
    expect(open.map(({ name }) => name)).to.deep.equal([]);
  });

  it('The Helm chart gives capabilities, the network and folders of the node to the agent alone', () => {
    const agents = podSpecs().filter(({ serviceAccountName }) => serviceAccountName === 'ipledger-node-agent');
    const others = podSpecs().filter((spec) => !agents.includes(spec));
    expect(agents).to.have.length(valueFiles.length);
    expect(others.some(({ hostNetwork, volumes = [] }) => hostNetwork ?? volumes.some(({ hostPath }) => hostPath))).to
      .be.false;
    expect(others.flatMap(containersOf).flatMap((each) => each.securityContext?.capabilities?.add ?? [])).to.be.empty;
    for (const { hostNetwork, containers, initContainers = [] } of agents) {
      const [agent] = containers;
      expect(hostNetwork).to.be.true;
      expect(agent?.securityContext?.capabilities?.add).to.deep.equal(['SYS_ADMIN', 'NET_ADMIN', 'NET_RAW']);
      expect(initContainers.flatMap((each) => each.securityContext?.capabilities?.add ?? [])).to.be.empty;
      const shared = agent?.volumeMounts?.filter(({ mountPropagation }) => mountPropagation === 'HostToContainer');
      expect(shared?.map(({ mountPath }) => mountPath)).to.include('/var/run/netns');
    }
  });

  it('The Helm chart gives kubelet a port for its probes that no NetworkPolicy opens, for the agent on loopback of the node', () => {
    const opened = allManifests().flatMap(({ kind, spec }) => {
      if (kind !== 'NetworkPolicy') return [];
      const { ingress } = spec as { ingress: readonly { ports: readonly { port: number }[] }[] | null };
      return (ingress ?? []).flatMap(({ ports }) => ports.map(({ port }) => port));
    });
    expect(opened).to.include(7411).and.not.to.include(8080);
    const health = ownContainers().map(({ command, env = [], livenessProbe, readinessProbe }) => {
      const listen = env.find(({ name }) => name === 'IPLEDGER_HEALTH_LISTEN')?.value;
      const hosts = [livenessProbe, readinessProbe].map((probe) => probe?.httpGet?.host);
      return [command.at(-1) === '/app/node-agent.mjs' ? 'agent' : 'other', listen, ...hosts].join(' ');
    });
    expect([...new Set(health)]).to.have.members([
      'agent 127.0.0.1:8081 127.0.0.1 127.0.0.1',
      'agent 127.0.0.1:8081,0.0.0.0:8082 127.0.0.1 127.0.0.1',
      'other 0.0.0.0:8080,0.0.0.0:8081  ',
      'other [::]:8080,[::]:8081  ',
    ]);
  });

  it('The Helm chart lets only Pods of namespaces that a value names read metrics', () => {
    for (const [file, manifests] of rendered) {
      const text = JSON.stringify(manifests.filter(({ kind }) => kind === 'NetworkPolicy'));
      const isNamed = /monitoring|secrets-s3/.test(basename(file));
      expect(text.includes('"port":8081'), file).to.equal(isNamed);
      expect(text.includes('{"kubernetes.io/metadata.name":"monitoring"}'), file).to.equal(isNamed);
    }
  });

  it('The Helm chart sets IPLEDGER_ACCEPT_CLOCK on the allocators only if a value requests it', async () => {
    const accepted = (await renderChart([], ['--set=allocator.acceptClock=true'])).match(/^.*ACCEPT_CLOCK.*$/gm);
    expect(accepted?.map((line) => line.trim())).to.deep.equal([`- { name: IPLEDGER_ACCEPT_CLOCK, value: '1' }`]);
    expect(JSON.stringify(allManifests())).not.to.contain('ACCEPT_CLOCK');
  });

  it('The Helm chart has the OVN projector, its account and its folders of nodes only with OVN', () => {
    const withOvn = [...rendered.values()].filter(hasOvn);
    expect(withOvn).to.have.length(2);
    for (const manifests of rendered.values()) {
      const kinds = manifests.filter(({ metadata }) => ofOvn.test(metadata.name)).map(({ kind }) => kind);
      const agent = manifests.flatMap((each) => podSpecOf(each) ?? []).find(({ hostNetwork }) => hostNetwork);
      const variables = agent?.containers.flatMap(({ env = [] }) => env.map(({ name }) => name)) ?? [];
      expect(variables.includes('IPLEDGER_OVS_DB')).to.equal(hasOvn(manifests));
      if (!hasOvn(manifests)) expect(kinds).to.deep.equal([]);
      else expect(kinds).to.include.members(['Deployment', 'PodDisruptionBudget', 'ServiceAccount', 'NetworkPolicy']);
    }
  });

  it('The Helm chart mounts the folder of Open vSwitch once, also if the agent has its own socket in it', () => {
    for (const manifests of [...rendered.values()].filter(hasOvn)) {
      const agent = manifests.flatMap((each) => podSpecOf(each) ?? []).find(({ hostNetwork }) => hostNetwork);
      const paths = agent?.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath) ?? [];
      expect(paths.filter((path) => path === '/run/openvswitch')).to.have.length(1);
      expect(new Set(paths).size).to.equal(paths.length);
    }
  });

  it('The Helm chart gives a Job another name when its Pod changes', async () => {
    const [file = ''] = valueFiles;
    const jobsWith = async (...settings: string[]): Promise<Map<string, string>> => {
      const jobs = parseManifests(await renderChart([file], [...withoutHooks, ...settings])).filter(
        ({ kind }) => kind === 'Job',
      );
      return new Map(jobs.map((job) => [job.metadata.name, JSON.stringify(job.spec)]));
    };
    const jobs = await jobsWith();
    expect([...jobs.keys()].join(' ')).to.match(/^ipledger-etcd-users-\w+ ipledger-etcd-backup-\w+$/);
    for (const change of [
      'image.tag=next',
      'etcd.managed.priorityClassName=other',
      'imagePullSecrets[0].name=registry',
    ])
      for (const [name, spec] of await jobsWith(`--set=${change}`))
        expect(jobs.has(name), `${name} with ${change}: ${spec}`).to.equal(false);
    expect(await jobsWith('--set=allocator.replicas=5')).to.deep.equal(jobs);
  });

  it('The Helm chart has the roles of deploy/rbac.yaml, and their bindings in its namespace', () => {
    const text = readFileSync(join(root, 'deploy/rbac.yaml'), 'utf8');
    expect(readFileSync(join(chartFolder, 'files/rbac.yaml'), 'utf8') === text, 'it differs: run make chart').to.be
      .true;
    const all = parseManifests(text);
    for (const manifests of rendered.values()) {
      const expected = hasOvn(manifests) ? all : all.filter(({ metadata }) => !ofOvn.test(metadata.name));
      for (const { kind, metadata, rules, subjects } of expected) {
        const found = manifests.find((each) => each.kind === kind && each.metadata.name === metadata.name);
        expect(inGroupOfKubeOvn(found?.rules), metadata.name).to.deep.equal(rules);
        for (const subject of found?.subjects ?? []) expect(subject.namespace).to.equal(namespace);
        expect(found?.subjects?.length).to.equal(subjects?.length);
      }
    }
  });

  it('The Helm chart contains the CustomResourceDefinitions of deploy/crds', () => {
    const folder = join(chartFolder, 'files', 'crds');
    expect(readdirSync(folder).sort()).to.deep.equal(crdFiles().map((file) => basename(file)));
    for (const file of crdFiles()) {
      const isCopied = readFileSync(join(folder, basename(file)), 'utf8') === readFileSync(file, 'utf8');
      expect(isCopied, `${file} differs: run make chart`).to.be.true;
    }
  });

  it('The Helm chart has no CustomResourceDefinition in the release, where uninstall would delete it, and none of Multus', () => {
    // Helm creates those of a folder crds, refuses a foreign owner, and never changes them
    expect(existsSync(join(chartFolder, 'crds'))).to.be.false;
    expect(allManifests().filter(({ kind }) => kind === 'CustomResourceDefinition')).to.deep.equal([]);
    const files = readdirSync(join(chartFolder, 'files', 'crds'));
    expect(files.filter((name) => /attachment/.test(name))).to.deep.equal([]);
    const resources = (
      parseDocument(readFileSync(join(crdFolder, 'kustomization.yaml'), 'utf8')).toJS() as { resources: string[] }
    ).resources;
    expect(resources).to.deep.equal(files.sort());
  });

  it('The Helm chart changes only its own CustomResourceDefinitions, by hooks whose objects are deleted with their Job', () => {
    for (const manifests of rendered.values()) {
      const hooks = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== undefined);
      expect(hooks.map(({ kind }) => kind).sort()).to.deep.equal([
        'ClusterRole',
        'ClusterRoleBinding',
        'ConfigMap',
        'Job',
        'ServiceAccount',
      ]);
      for (const { metadata } of hooks)
        expect(metadata.annotations).to.include({
          'helm.sh/hook': 'pre-install,pre-upgrade',
          'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
        });
      const writers = manifests.filter(({ rules = [] }) =>
        rules.some(
          ({ resources = [], verbs = [] }) =>
            resources.includes('customresourcedefinitions') && verbs.includes('update'),
        ),
      );
      expect(writers.map(({ metadata }) => metadata.name)).to.deep.equal(['ipledger-crds']);
      const [limited] = writers[0]?.rules ?? [];
      const names = crdFiles().map(
        (file) => (parseDocument(readFileSync(file, 'utf8')).toJS() as Manifest).metadata.name,
      );
      const has = new Set((limited as { resourceNames?: string[] } | undefined)?.resourceNames);
      const isBesideKubeOvn = [...has].some((name) => name.endsWith(ownGroup));
      expect([...has].every((name) => name.endsWith(ownGroup) || names.includes(name))).to.be.true;
      expect(has.size).to.equal(isBesideKubeOvn ? ownDefinitions().length : names.length);
    }
  });

  it('The Helm chart has all alerts with the address of the runbooks, and all dashboards as the generator wrote them', () => {
    const manifests = rendered.get(join(root, 'test/chart/values/monitoring.yaml')) ?? [];
    const rule = manifests.find(({ kind }) => kind === 'PrometheusRule') as { spec?: typeof ruleFile } | undefined;
    const monitor = manifests.find(({ kind }) => kind === 'PodMonitor');
    const withUrl = JSON.stringify(ruleFile).replaceAll('docs/runbooks.md', 'https://wiki.example/ipledger/runbooks');
    expect(rule?.spec).to.deep.equal(JSON.parse(withUrl));
    expect(monitor?.spec).to.deep.equal(podMonitor.spec);
    expect(monitor?.metadata).to.have.deep.nested.property('labels.release', 'prometheus');
    const shown = manifests
      .filter(({ metadata }) => metadata.name.startsWith('ipledger-dashboard-'))
      .flatMap((manifest) => Object.values((manifest as { data?: Record<string, string> }).data ?? {}));
    const written = dashboards.map((dashboard) => JSON.parse(JSON.stringify(grafanaJson(dashboard))) as unknown);
    expect(shown.map((text) => JSON.parse(text) as unknown)).to.have.deep.members(written);
  });

  it('The Helm chart has no object of the Prometheus Operator unless a value requests it', () => {
    const others = [...rendered].filter(([file]) => !file.endsWith('monitoring.yaml')).flatMap(([, found]) => found);
    expect(others.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com'))).to.deep.equal([]);
  });

  for (const name of renderedFolders)
    it(`The Helm chart renders deploy/${name}/ipledger.yaml`, async () => {
      const folder = join(root, 'deploy', name);
      const text = await renderChart([join(folder, 'values.yaml')], withoutHooks);
      expect(readFileSync(join(folder, 'ipledger.yaml'), 'utf8') === text, 'it differs: run make chart').to.be.true;
    });
});
