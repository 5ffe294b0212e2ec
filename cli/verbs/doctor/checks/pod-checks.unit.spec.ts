import { expect } from 'chai';
import type { Facts, PodProblem } from '../../../installation/facts.ts';
import { healthyFacts, multus } from '../../../installation/testing/facts.fixture.ts';
import { runChecks } from './run-checks.ts';

const problem: PodProblem = {
  component: 'allocator',
  name: 'allocator-0',
  node: 'node-1',
  isReady: false,
  container: 'allocator',
  reason: 'CrashLoopBackOff',
  message: 'back-off 5m0s; it ended by Error, exit code 1: etcd does not answer',
  restarts: 7,
  claims: [],
};
const deployment = {
  kind: 'Deployment',
  namespace: 'ipledger-system',
  name: 'ipledger-allocator',
  desired: 3,
  ready: 2,
  updated: 3,
};
const event = { kind: 'Pod', name: 'allocator-0', at: '2026-01-31T07:59:00Z' };

const findings = (facts: Partial<Facts>) =>
  runChecks({ ...healthyFacts, workloads: [multus, deployment], ...facts }).map((each) => ({ ...each }));
const first = (facts: Partial<Facts>) => findings(facts)[0];

describe('The checks of doctor for Pods that do not run', () => {
  it('The checks of doctor for Pods that do not run report the reason of a container once, with its workload, and the command that shows its log', () => {
    const found = findings({ pods: [problem] });
    expect(found).to.have.length(1);
    expect(found[0]).to.deep.include({
      severity: 'warning',
      where: 'Pod ipledger-system/allocator-0',
      what:
        'CrashLoopBackOff of container allocator after 7 restarts: back-off 5m0s; it ended by Error, exit code 1: etcd does not answer. ' +
        '2 of 3 Pods of Deployment ipledger-allocator are ready.',
      remedy: 'kubectl -n ipledger-system logs allocator-0 -c allocator --previous',
      document: 'docs/troubleshooting.md#a-program-does-not-start',
    });
    expect(first({ pods: [problem], workloads: [multus, { ...deployment, ready: 0 }] })?.severity).to.equal('critical');
  });

  it('The checks of doctor for Pods that do not run report Pods with the same reason together', () => {
    const pods = Array.from({ length: 5_000 }, (_, index) => ({
      ...problem,
      component: 'node-agent',
      name: `agent-${index}`,
      container: 'install-plugin',
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image "r/x:${index}"`,
      restarts: 0,
    }));
    const found = findings({ pods, workloads: [multus] });
    expect(found).to.have.length(1);
    expect(found[0]?.what).to.equal(
      'ImagePullBackOff of container install-plugin: Back-off pulling image "r/x:0". ' +
        '4999 more Pods have it: agent-1, agent-2, agent-3, ….',
    );
    expect(found[0]?.remedy).to.match(/^kubectl -n ipledger-system describe pod agent-0 {2}# /);
  });

  it('The checks of doctor for Pods that do not run report the claim that is not bound, with its Event', () => {
    const message = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.';
    const pending = { ...problem, container: '', reason: 'Unschedulable', message, restarts: 0, claims: ['data-0'] };
    const claim = {
      ...event,
      kind: 'PersistentVolumeClaim',
      name: 'data-0',
      reason: 'ProvisioningFailed',
      message: 'no disk',
    };
    const found = first({ pods: [pending], warnings: [claim] });
    expect(found?.what).to.contain('PersistentVolumeClaim data-0: ProvisioningFailed: no disk');
    expect(found?.remedy).to.match(/^kubectl -n ipledger-system describe pvc data-0 {2}# /);
    const full = first({ pods: [{ ...pending, message: '0/1 nodes are available: 1 Insufficient memory.' }] });
    expect(full?.remedy).to.match(/^kubectl -n ipledger-system describe pod allocator-0 {2}# /);
  });

  it('The checks of doctor for Pods that do not run report a Pod without a reason by its newest Event, and not at all without one', () => {
    const starting = {
      ...problem,
      container: '',
      reason: 'NotReady',
      message: 'containers with unready status',
      restarts: 0,
    };
    const mount = { ...event, reason: 'FailedMount', message: 'secret "ipledger-tls" not found' };
    expect(first({ pods: [starting], warnings: [mount] })?.what).to.match(
      /^NotReady: containers with unready status. FailedMount: secret "ipledger-tls" not found\. 2 of 3 /,
    );
    const found = findings({ pods: [starting] });
    expect(found.map(({ where }) => where)).to.deep.equal(['Deployment ipledger-system/ipledger-allocator']);
    const init = { ...starting, container: 'check-member', message: 'this init container has not ended' };
    expect(first({ pods: [init] })?.remedy).to.equal('kubectl -n ipledger-system logs allocator-0 -c check-member');
  });

  it('The checks of doctor for Pods that do not run report why a workload has no Pods, by the Event of its ReplicaSet', () => {
    const message = 'pods "x" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes';
    const refused = { ...event, kind: 'ReplicaSet', name: 'ipledger-allocator-6f7d', reason: 'FailedCreate', message };
    const other = { ...refused, name: 'ipledger-allocator-replicas-x', kind: 'StatefulSet', message: 'of another' };
    expect(first({ warnings: [other, refused] })?.what).to.equal(`2 of 3 Pods are ready. FailedCreate: ${message}`);
  });

  it('The checks of doctor for Pods that do not run report Pods of tenants whose networks cannot be set up, once for each error, unless a disagreement does', () => {
    const message =
      'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0a": ' +
      'plugin type="multus" failed (add): [default/web-0/u:lan]: error adding container to network "lan": Link not found';
    const sandboxFailures = ['web-0', 'web-1', 'db-0'].map((name) => ({
      pod: `default/${name}`,
      node: 'node-1',
      message: message.replace('web-0', name),
    }));
    const found = first({ sandboxFailures, workloads: [multus] });
    expect(found).to.deep.include({
      severity: 'warning',
      where: 'Pod default/web-0',
      what:
        'Its network cannot be set up on node node-1: error adding container to network "lan": Link not found. ' +
        '2 more Pods have it: default/web-1, default/db-0.',
      remedy: 'ipledger why default/web-0  # then the NetworkAttachmentDefinition, and what it needs on the node',
    });
    const disagreements = sandboxFailures.map(({ pod }) => ({
      kind: 'no address',
      where: `Pod ${pod}`,
      what: '',
      remedy: '',
    }));
    const comparison = { ...healthyFacts.comparison, disagreements };
    const compared = findings({ sandboxFailures, comparison, workloads: [multus] });
    expect(compared.filter(({ what }) => what.includes('cannot be set up'))).to.deep.equal([]);
  });

  it('The checks of doctor for Pods that do not run report a container that was out of memory, also when its Pod is ready', () => {
    const killed = { ...problem, isReady: true, reason: 'OOMKilled', message: 'exit code 137', restarts: 1 };
    const found = first({ pods: [killed], workloads: [multus, { ...deployment, ready: 3 }] });
    expect(found?.what).to.equal('OOMKilled of container allocator after 1 restart: exit code 137.');
    expect(found?.remedy).to.match(/^kubectl -n ipledger-system describe pod allocator-0 {2}# raise its memory limit/);
  });
});
