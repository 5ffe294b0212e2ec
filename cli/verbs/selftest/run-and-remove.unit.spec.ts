import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import { CliError } from '../../cli-error.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { findMissingRights } from './required-rights.ts';
import { runAndRemove } from './run-and-remove.ts';
import type { Step } from './run-selftest.ts';
import { createReport } from './selftest.ts';
import { plan } from './testing/test-plan.fixture.ts';

const kubernetesThat = (methods: Partial<KubernetesClient>): KubernetesClient => {
  const unused = (): Promise<never> => Promise.reject(new Error('it is not called'));
  const others = { get: unused, list: unused, readText: unused, create: unused, replace: unused, patch: unused };
  return { besideKubeOvn: false, ...others, remove: unused, ...methods };
};
const down = kubernetesThat({ list: () => Promise.reject(new Error('it is down')) });
const empty = kubernetesThat({ list: () => Promise.resolve([]) });
const passed: Step = { step: 'one', result: 'passed', detail: '' };
const failed: Step = { step: 'two', result: 'failed', detail: 'no address' };

const cleanup = (kubernetes: KubernetesClient, keep = false) => {
  const reported: string[] = [];
  return { reported, kubernetes, keep, report: (text: string) => void reported.push(text) };
};

/**
 * A cluster with a namespace of the run, and a Pod that hangs. It records what is read and removed.
 */
function hangingCluster(isMade = true) {
  const calls: string[] = [];
  let exists = isMade;
  const events: UntypedJson[] = [
    {
      involvedObject: { kind: 'Pod', name: 'on-1' },
      reason: 'FailedCreatePodSandBox',
      message: 'plugin type="macvlan" failed (add): Link not found',
      lastTimestamp: '2026-01-31T07:00:00Z',
    },
  ];
  const pod = {
    metadata: { name: 'on-1' },
    spec: { nodeName: 'n', containers: [{ name: 'box' }] },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'Ready', status: 'False', message: 'containers with unready status: [box]' }],
      containerStatuses: [{ name: 'box', state: { waiting: { reason: 'ContainerCreating' } } }],
    },
  };
  const list = (path: string): Promise<UntypedJson[]> => {
    const [folder = ''] = path.split('?');
    calls.push(`list ${folder}`);
    if (folder.endsWith('/events')) return Promise.resolve(events);
    if (folder.endsWith('/pods')) return Promise.resolve([pod]);
    const isNamespaces = folder === '/api/v1/namespaces' && exists;
    return Promise.resolve(isNamespaces ? [{ metadata: { name: 'ipledger-selftest-1a2b', uid: 'u' } }] : []);
  };
  const remove = (path: string): Promise<void> => {
    calls.push(`remove ${path}`);
    exists = false;
    return Promise.resolve();
  };
  return { calls, kubernetes: kubernetesThat({ list, remove }) };
}

describe('A selftest', () => {
  it('A selftest reports what may be left after Ctrl-C, and nothing when all is removed', async () => {
    for (const [kubernetes, expected] of [
      [down, ['left: perhaps namespace ipledger-selftest-1a2b (it is down). Run: ipledger selftest --clean']],
      [empty, []],
    ] as const) {
      const interrupted = new IpledgerError('CANCELLED', 'Ctrl-C');
      const options = cleanup(kubernetes);
      const run = runAndRemove(plan, () => Promise.reject(interrupted), options);
      expect(await run.catch((error: unknown) => error)).to.equal(interrupted);
      expect(options.reported).to.deep.equal(expected);
    }
  });

  it('A selftest keeps its steps when the removal fails', async () => {
    const { steps } = await runAndRemove(plan, () => Promise.resolve([passed]), cleanup(down));
    expect(steps.map(({ result, detail }) => ({ result, detail }))).to.deep.equal([
      { result: 'passed', detail: '' },
      { result: 'failed', detail: 'it is down' },
    ]);
  });

  it('A selftest reads why a step failed before it removes the objects', async () => {
    const { calls, kubernetes } = hangingCluster();
    const { reasons, steps } = await runAndRemove(plan, () => Promise.resolve([passed, failed]), cleanup(kubernetes));
    expect(reasons).to.deep.equal([
      { where: 'Pod on-1 on node n', what: 'NotReady: containers with unready status: [box]' },
      { where: 'Pod on-1', what: 'FailedCreatePodSandBox: plugin type="macvlan" failed (add): Link not found' },
    ]);
    const [events, removal] = ['/events', 'remove '].map((part) => calls.findIndex((call) => call.includes(part)));
    expect(events)
      .to.be.greaterThan(-1)
      .and.lessThan(removal ?? -1);
    expect(steps.at(-1)).to.include({ step: 'all that it made is removed', result: 'passed' });
    const fine = hangingCluster(false);
    await runAndRemove(plan, () => Promise.resolve([passed]), cleanup(fine.kubernetes));
    expect(fine.calls.filter((call) => call.includes('/events'))).to.deep.equal([]);
  });

  it('A selftest reports the reasons before the steps, and the addresses that are not free as a note', () => {
    const reasons = [{ where: 'Pod on-1', what: 'FailedCreatePodSandBox: Link not found' }];
    const report = createReport(plan, { reasons, steps: [passed, failed] }, ['10.0.0.5 is in cooldown']);
    const rows = report.listing().rows.map((row) => row.join(' '));
    expect(rows).to.deep.equal([
      'reason Pod on-1 FailedCreatePodSandBox: Link not found',
      'passed one ',
      'failed two no address',
    ]);
    expect(report.note).to.equal('10.0.0.5 is in cooldown');
    expect(report.content).to.deep.include({ reasons, unfree: ['10.0.0.5 is in cooldown'] });
  });

  it('A selftest names the reasons that it cannot read', async () => {
    const { reasons } = await runAndRemove(plan, () => Promise.resolve([failed]), cleanup(down));
    expect(reasons).to.deep.equal([
      { where: 'Pods', what: 'not readable: it is down' },
      { where: 'Events', what: 'not readable: it is down' },
    ]);
  });

  it('A selftest leaves its objects on request, with the command that removes them', async () => {
    const { calls, kubernetes } = hangingCluster();
    const { steps } = await runAndRemove(plan, () => Promise.resolve([failed]), cleanup(kubernetes, true));
    expect(calls.filter((call) => call.startsWith('remove'))).to.deep.equal([]);
    expect(steps.at(-1)).to.deep.equal({
      step: 'all that it made is removed',
      result: 'skipped',
      detail: 'kept: namespace ipledger-selftest-1a2b. Run: ipledger selftest --clean',
    });
    const interrupted = cleanup(kubernetes, true);
    const run = runAndRemove(plan, () => Promise.reject(new IpledgerError('CANCELLED', 'Ctrl-C')), interrupted);
    await run.catch(() => undefined);
    expect(interrupted.reported).to.deep.equal([
      'kept: namespace ipledger-selftest-1a2b. Run: ipledger selftest --clean',
    ]);
  });
});

describe('The rights that a selftest needs', () => {
  const reviewing = (isAllowed: (text: string) => boolean) => {
    const reviewed: string[] = [];
    const create = (path: string, review: object): Promise<UntypedJson> => {
      expect(path).to.equal('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews');
      const { resourceAttributes } = (review as { spec: { resourceAttributes: Record<string, string> } }).spec;
      const { verb = '', group = '', resource = '', namespace = '' } = resourceAttributes;
      const text = `${verb} ${resource}${group === '' ? '' : `.${group}`}${namespace === '' ? '' : ` in ${namespace}`}`;
      reviewed.push(text);
      return Promise.resolve({ status: { allowed: isAllowed(text) } });
    };
    return { reviewed, kubernetes: kubernetesThat({ create }) };
  };

  it('The rights that a selftest needs are complete for a person who may do all', async () => {
    expect(await findMissingRights(plan, reviewing(() => true).kubernetes)).to.deep.equal([]);
  });

  it('The rights that a selftest needs are named together, also those of a network of its own only when it makes one', async () => {
    const own = { ...plan, network: { master: 'eth1', cidr: '10.9.9.0/28', socket: '/run/agent.sock' } };
    const missing = await findMissingRights(own, reviewing((text) => !text.startsWith('create ')).kubernetes);
    expect(missing).to.deep.equal([
      'create namespaces',
      'create pods in ipledger-selftest-1a2b',
      'create network-attachment-definitions.k8s.cni.cncf.io in ipledger-selftest-1a2b',
      'create subnets.kubeovn.io',
    ]);
    const { reviewed, kubernetes } = reviewing(() => false);
    await findMissingRights(plan, kubernetes);
    expect(reviewed.filter((text) => /network-attachment|create subnets/.test(text))).to.deep.equal([
      'get network-attachment-definitions.k8s.cni.cncf.io in a',
    ]);
  });

  it('The rights that a selftest needs fail as a whole when the cluster does not review them', async () => {
    const kubernetes = kubernetesThat({ create: () => Promise.reject(new CliError('unreachable', 'it is down')) });
    const error = await findMissingRights(plan, kubernetes).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(CliError);
  });
});
