import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { alerts } from '../../../../deploy/monitoring/alerts.ts';
import { type Facts, factsSchema, type Program } from '../../../installation/facts.ts';
import { agents, gatheredAt, healthyFacts, multus, programOf } from '../../../installation/testing/facts.fixture.ts';
import { wrongKubectl } from '../../../testing/kubectl-flags.ts';
import { commandsForPods } from './commands.ts';
import { rules } from './metric-checks.ts';
import { runChecks } from './run-checks.ts';

const root = join(import.meta.dirname, '../../../..');
const describeFindings = (facts: Partial<Facts>): string[] =>
  runChecks({ ...healthyFacts, ...facts }).map(({ severity, where, what }) => `${severity} ${where}: ${what}`);
const now = Date.parse(gatheredAt) / 1_000;
const withLabels = (name: string, labels: Readonly<Record<string, string>>, value: number): Program =>
  programOf('allocator', {}, { samples: [{ name, labels, value }] });

describe('The checks of doctor', () => {
  it('The checks of doctor find nothing in a healthy installation, in no facts, and in facts from a bundle', () => {
    const { format, version, namespace, skipped, gaps } = healthyFacts;
    expect(runChecks(healthyFacts)).to.deep.equal([]);
    expect(runChecks({ format, version, namespace, skipped, gaps, gatheredAt })).to.deep.equal([]);
    expect(runChecks(factsSchema.parse(JSON.parse(JSON.stringify(healthyFacts))))).to.deep.equal([]);
  });

  it('The checks of doctor report a ledger that cannot be written, with the message of its status', () => {
    const { status } = healthyFacts;
    const cannotWrite = { reason: 'etcd-full', message: 'etcd is full: compact it', since: gatheredAt };
    expect(describeFindings({ status: { ...status, cannotWrite } })).to.deep.equal([
      `critical the ledger: Nothing can be written since ${gatheredAt}: etcd is full: compact it`,
    ]);
    expect(describeFindings({ status: { ...status, cannotWrite, frozenBy: 'watcher' } })).to.have.length(1);
  });

  it('The checks of doctor print the command that repairs a ledger that cannot be written', () => {
    const remedyFor = (reason: string): string => {
      const cannotWrite = { reason, message: 'x', since: gatheredAt };
      const [finding] = runChecks({ ...healthyFacts, status: { ...healthyFacts.status, cannotWrite } });
      return `${finding?.remedy} ${finding?.document}`;
    };
    for (const reason of ['etcd-full', 'etcd-nearly-full'])
      expect(remedyFor(reason)).to.match(/^ipledger with-etcd .*endpoint status .*defragment.*#etcd-compaction-def/);
    expect(remedyFor('etcd-corrupt')).to.match(/^ipledger with-etcd .*hashkv .*#etcd-the-alarm-corrupt$/);
    expect(remedyFor('no-writer')).to.match(/^kubectl .* logs -l .*allocator .*#ipledgernowriter$/);
  });

  it('The checks of doctor name the Subnet that is full, the clock that differs, and the node of an agent', () => {
    const full = withLabels('subnet_available_ip_count', { subnet_name: 'lan' }, 0);
    expect(describeFindings({ programs: [full] })).to.deep.equal([
      'warning Subnet lan: Subnet lan has 0 available addresses.',
    ]);
    const clock = withLabels('ipledger_clock_difference_seconds', { clock: 'etcd-0:2379' }, 301);
    expect(describeFindings({ programs: [clock] })).to.deep.equal([
      'warning allocator allocator-0: The clock of allocator allocator-0 is 301 s from another clock. That is the clock of etcd-0:2379. This program is on node-1.',
    ]);
    const labels = { file: '/tls/tls.crt' };
    const expired = { name: 'ipledger_certificate_remaining_ratio', labels, value: 0 };
    const [finding] = describeFindings({ programs: [programOf('node-agent', {}, { samples: [expired] })] });
    expect(finding).to.match(/^critical node-agent node-agent-0 on node node-1: .* It has expired\.$/);
  });

  it('The checks of doctor print commands without a flag twice', () => {
    for (const rule of rules) {
      const remedy = typeof rule.remedy === 'string' ? rule.remedy : rule.remedy(commandsForPods('ipledger-system'));
      const flags = remedy.split(' ').filter((word) => word.startsWith('--'));
      expect(flags, remedy).to.deep.equal([...new Set(flags)]);
    }
  });

  it('The checks of doctor report a namespace without a program once, and beside it only what the ledger answers', () => {
    const absent = { ...healthyFacts, namespace: 'wrong', programs: [], leases: [{ name: 'ipledger-pod-watcher' }] };
    const expected = 'critical namespace wrong: It has no program of ipledger.';
    expect(describeFindings({ ...absent, permissions: [{ role: 'Role x', missing: ['all'] }] })).to.deep.equal([
      expected,
    ]);
    const frozen = describeFindings({ ...absent, status: { ...healthyFacts.status, frozenBy: 'watcher' } });
    expect(frozen).to.have.length(2).and.to.include(expected);
    const outside = describeFindings({ ...absent, programs: healthyFacts.programs });
    expect(outside).to.not.include(expected);
  });

  const outside = {
    programs: [programOf('allocator', { ipledger_is_leader: 1 }, { name: '127.0.0.1:8081', node: '' })],
    comparison: { ...healthyFacts.comparison, bindings: 0 },
    permissions: [{ role: 'ClusterRole ipledger-pod-watcher', missing: ['the ClusterRole'] }],
    workloads: [],
  };

  it('The checks of doctor judge no roles and no Multus where all programs run outside of the cluster, and note that', () => {
    expect(describeFindings(outside)).to.deep.equal([
      'note namespace ipledger-system: The programs run outside of the cluster. Their roles, and Multus, are not judged.',
    ]);
    const [lease, ...notes] = describeFindings({ ...outside, leases: [{ name: 'ipledger-pod-watcher' }] });
    expect(lease).to.match(/^critical Lease ipledger-pod-watcher: /);
    expect(notes).to.have.length(1);
  });

  it('The checks of doctor print no command for Pods of ipledger where all programs run outside of the cluster', () => {
    const [program] = outside.programs;
    const values = { ipledger_plugin_current: 0, ipledger_sealing_failed: 1, ipledger_etcd_member_answers: 0 };
    const samples = Object.entries(values).map(([name, value]) => ({ name, labels: { reason: 'other' }, value }));
    const cannotWrite = { reason: 'etcd-corrupt', message: 'x', since: gatheredAt };
    const programs = [{ ...programOf('b', {}, { ...program, samples }), version: '0.0.9' }, ...outside.programs];
    const replicas = [{ endpoint: 'a:1', failure: 'it is down' }];
    const status = { ...healthyFacts.status, cannotWrite };
    const facts = { ...healthyFacts, ...outside, programs, status, replicas, checkpoints: { isSigned: false } };
    const remedies = runChecks(facts).map(({ remedy }) => remedy);
    expect(remedies)
      .to.have.length(8)
      .and.to.include('read the log of the allocator  # look for: sealing events failed');
    expect(remedies.filter((each) => /\bhelm\b|with-etcd|kubectl .* (?:logs|pods?) /.test(each))).to.deep.equal([]);
  });

  it('The checks of doctor note the quarantined addresses of a Subnet, with the command that lists and ends them', () => {
    const quarantines = [{ subnet: 'lan', count: 2, range: '10.8.0.5,10.8.0.7' }];
    const [finding, ...more] = runChecks({ ...healthyFacts, quarantines });
    expect(more).to.deep.equal([]);
    expect(finding).to.include({ severity: 'note', where: 'Subnet lan' });
    expect(finding?.what).to.equal('2 addresses are quarantined, and no Pod gets them: 10.8.0.5,10.8.0.7');
    expect(finding?.remedy).to.match(/^ipledger unquarantine --subnet lan --reason TEXT  # /);
  });

  it('The checks of doctor report a quota of etcd that is nearly used, with the days that are left', () => {
    const storage = { usedBytes: 40, quotaBytes: 100, daysLeft: 3 };
    const [finding = ''] = describeFindings({ status: { ...healthyFacts.status, storage } });
    expect(finding).to.match(/^warning etcd: .*40 % of .*, full in 3 days/);
  });

  it('The checks of doctor report disagreements once, and leave those out that the status or a condition reports', () => {
    const disagreement = { where: 'Pod default/web', what: 'none', remedy: 'ipledger why default/web' };
    const kinds = ['no address', 'frozen', 'not writable', 'Subnet refused'];
    const disagreements = kinds.map((kind) => ({ ...disagreement, kind }));
    const comparison = { ...healthyFacts.comparison, disagreements, leftOut: 7 };
    expect(describeFindings({ comparison })).to.deep.equal([
      'critical Pod default/web: no address: none',
      'warning the ledger: 7 more disagreements are left out.',
    ]);
  });

  it('The checks of doctor report missing verification of the standbys only when all of them are overdue', () => {
    const started = { process_start_time_seconds: now - 7 * 3_600, ipledger_is_leader: 0 };
    const verified = { ...started, ipledger_verified_timestamp_seconds: now - 3_600 };
    const expected = ['warning the ledger: None of 1 standbys has verified the complete ledger for a day.'];
    expect(describeFindings({ programs: [programOf('allocator', started)] })).to.deep.equal(expected);
    const old = { ...started, ipledger_verified_timestamp_seconds: now - 90_000 };
    expect(describeFindings({ programs: [programOf('allocator', old)] })).to.deep.equal(expected);
    expect(describeFindings({ programs: [programOf('allocator', started), programOf('b', verified)] })).to.deep.equal(
      [],
    );
    const young = { ...started, process_start_time_seconds: now - 60 };
    expect(describeFindings({ programs: [programOf('allocator', young)] })).to.deep.equal([]);
  });

  it('The checks of doctor report a certificate that has expired as critical', () => {
    const labels = { file: '/tls/tls.crt' };
    const samples = [
      { name: 'ipledger_certificate_remaining_ratio', labels, value: 0 },
      { name: 'ipledger_certificate_expiry_timestamp_seconds', labels, value: now - 1 },
    ];
    const [finding] = describeFindings({ programs: [programOf('pod-watcher', {}, { samples })] });
    expect(finding).to.match(/^critical pod-watcher pod-watcher-0: .*last tenth of its validity\. It has expired\.$/);
  });

  it('The checks of doctor report old checkpoints by ledger time, and note that none are signed', () => {
    expect(describeFindings({ checkpoints: { isSigned: true, newestAt: '2026-01-31T07:30:00.000Z' } })).to.deep.equal([
      'warning checkpoints: The newest checkpoint that Kubernetes keeps is of 2026-01-31T07:30:00.000Z.',
    ]);
    expect(describeFindings({ checkpoints: { isSigned: false } })[0]).to.match(/^note checkpoints: No key is set up/);
    expect(describeFindings({ checkpoints: { isSigned: true } }), 'not read').to.deep.equal([]);
  });

  it('The checks of doctor report a rollout that has not ended, a backup that is suspended, and another version here as a note', () => {
    expect(describeFindings({ workloads: [multus, { ...agents, updated: 1 }] })).to.deep.equal([
      'warning DaemonSet ipledger-system/ipledger-node-agent: 1 of 2 Pods are of an earlier version.',
    ]);
    expect(describeFindings({ backup: { ...healthyFacts.backup, isSuspended: true } })).to.have.length(1);
    expect(describeFindings({ version: '9.9.9' })[0]).to.match(/^note versions: /);
  });

  it('The checks of doctor accept a Multus without DaemonSet while containers have addresses', () => {
    expect(describeFindings({ workloads: [] })).to.deep.equal([]);
    const comparison = { ...healthyFacts.comparison, bindings: 0 };
    expect(describeFindings({ workloads: [], comparison })[0]).to.match(/^warning Multus: /);
  });

  it('The checks of doctor report what several replicas see alike once', () => {
    const down = withLabels('ipledger_etcd_member_answers', { endpoint: 'etcd-1:2379' }, 0);
    expect(describeFindings({ programs: [down, { ...down, name: 'allocator-1' }] })).to.deep.equal([
      'warning allocator allocator-0: Member etcd-1:2379 of etcd does not answer.',
    ]);
  });

  it('The checks of doctor name the namespace of the installation in their commands', () => {
    const [finding] = runChecks({ ...healthyFacts, namespace: 'net', leases: [{ name: 'ipledger-pod-watcher' }] });
    expect(finding?.remedy).to.match(/^kubectl -n net get lease /);
    const cannotWrite = { reason: 'etcd-full', message: 'x', since: gatheredAt };
    const [full] = runChecks({ ...healthyFacts, namespace: 'net', status: { ...healthyFacts.status, cannotWrite } });
    expect(full?.remedy).to.match(/^ipledger with-etcd --namespace net --secret /);
  });

  /**
   * Rates and times without a change need a history; `check`, the status or the Lease reports the
   * rest.
   */
  const elsewhere = new Set(
    (
      'NoWriter NoWrites WriterChanges LeaseChanges EventLoopDelayed CertificateNotRenewed AgentDown NoActivePodWatcher FencedAddresses ' +
      'NotVerified Bug SubnetFull AddressesHeld PodsWaiting ProjectionBehind ClockJumped EtcdHalfFull EtcdFillsUp BackupFailed ' +
      'ThreadCrashed AgentRateLimited OvnNoActiveProjector OvnProjectionBehind AddressConflict'
    ).split(' '),
  );

  it('The checks of doctor have a rule for each alert that one look can decide, with a metric of the alert', () => {
    const names = alerts.map(({ name }) => name.replace(/^Ipledger/, ''));
    expect(names.filter((name) => !elsewhere.has(name)).toSorted()).to.deep.equal(
      rules.map(({ alert }) => alert.replace(/^Ipledger/, '')).toSorted(),
    );
    const wrong = rules.filter(
      ({ alert, metric }) => !alerts.find(({ name }) => name === alert)?.expression.includes(metric),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('The checks of doctor print commands of kubectl with flags that it has, and whole logs, as the documents do', () => {
    const files = ['cli/verbs/doctor/checks/{*-checks,commands}.ts', 'deploy/monitoring/alerts.ts', 'docs/*.md'];
    const commands = globSync(files, { cwd: root }).flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/\bkubectl ([^`'#\n|;&)]*)/g)].map(([, words = '']) => words),
    );
    expect(commands.filter((each) => each.includes('logs ')).length).to.be.greaterThan(10);
    const wrong = commands.filter((each) => wrongKubectl(each.split(/\s+/)) !== undefined);
    expect(wrong).to.deep.equal([]);
  });

  it('The checks of doctor name sections that the documents have', () => {
    const sources = ['finding', 'ledger-checks', 'installation-checks', 'metric-checks', 'pod-checks'].map((name) =>
      readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8'),
    );
    const links = sources.flatMap((source) => [...source.matchAll(/(docs\/[a-z-]+\.md)#([a-z0-9-]+)/g)]);
    expect(links.length).to.be.greaterThan(15);
    const wrong = links.filter(([, file = '', anchor]) => {
      const headings = [...readFileSync(join(root, file), 'utf8').matchAll(/^#+ (.*)$/gm)];
      return !headings.some(
        ([, heading = '']) =>
          heading
            .toLowerCase()
            .replaceAll(/[^\w -]/g, '')
            .replaceAll(' ', '-') === anchor,
      );
    });
    expect(wrong.map(([link]) => link)).to.deep.equal([]);
  });
});
