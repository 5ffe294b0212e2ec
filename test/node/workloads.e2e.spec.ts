/** Deployments, StatefulSets and `ipledger selftest` on two real nodes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { podImage } from '../harness/node/pod-image.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { killSandbox, canPing, listSandboxes } from './sandboxes.ts';
import { root } from '../harness/paths.ts';
import { childEnvironment } from '../harness/processes/launch.ts';
import type { NodeEnvironment } from './node-environment.ts';
import { describeOnNodes } from './node-suite.ts';
import { createWorkload, waitForPods, sandboxOf, scaleWorkload } from './workloads.ts';

describeOnNodes('real nodes: workloads', (it) => {
  it('a Deployment and a StatefulSet run on both nodes, each Pod with its own address', async (environment) => {
    const [web, db] = await Promise.all([
      createWorkload(environment, 'Deployment', 'web', 4),
      createWorkload(environment, 'StatefulSet', 'db', 2),
    ]);
    expect(web.map(({ node }) => node)).to.have.members(['node-a', 'node-a', 'node-b', 'node-b']);
    expect(db.map(({ node }) => node)).to.have.members(['node-a', 'node-b']);
    expect(new Set([...web, ...db].map(({ address }) => address)).size).to.equal(6);
  });

  it('Pods reach each other, on one node and across nodes', async (environment) => {
    const all = [...(await waitForPods(environment, 'web', 4)), ...(await waitForPods(environment, 'db', 2))];
    for (const from of all)
      for (const to of all)
        expect(await canPing(sandboxOf(environment, from), to.address), `${from.name} → ${to.name}`).to.equal(true);
  });

  it('a killed sandbox is replaced, and its Pod keeps its address', async (environment) => {
    const [pod] = await waitForPods(environment, 'web', 4);
    if (!pod) throw new Error('no Pod');
    const before = sandboxOf(environment, pod);
    await killSandbox(before);
    await eventually(() => expect(sandboxOf(environment, pod).containerId).to.not.equal(before.containerId), 60_000);
    expect(await waitForPods(environment, 'web', 4)).to.deep.include(pod);
  });

  it('a drained node has no Pod, no link and no binding; its Pods run on the other node', async (environment) => {
    const { kubectl } = environment.stack.cluster;
    await kubectl(['drain', 'node-a', '--force', '--timeout=60s']);
    const [web, db] = [await waitForPods(environment, 'web', 4), await waitForPods(environment, 'db', 2)];
    expect(new Set([...web, ...db].map(({ node }) => node))).to.deep.equal(new Set(['node-b']));
    await eventually(() => expect(listSandboxes(environment.a)).to.deep.equal([]));
    await kubectl(['uncordon', 'node-a']);
  });

  it('ipledger selftest passes on both nodes, leaves nothing, and cleans up after a killed run', async (environment) => {
    const { cluster, allocator } = environment.stack;
    const args = ['selftest', '--network', 'default/lan', '--default-network', '--image', podImage, '-o', 'json'];
    const options = { allocator, kubeconfig: cluster.kubeconfig };
    const left = {
      kind: 'Namespace',
      metadata: { name: 'ipledger-selftest-old', labels: { 'ipledger.io/selftest': 'old' } },
    } as const;
    await environment.kubernetes.create(left);
    const refused = await runIpledger([...args, '--nodes', 'node-a', 'node-b'], options);
    expect(refused.stderr).to.match(
      /an earlier run left namespace ipledger-selftest-old\. Run: ipledger selftest --clean/,
    );
    const other = { kind: 'Namespace', metadata: { ...left.metadata, name: 'other' } } as const;
    await environment.kubernetes.create(other);
    expect((await runIpledger(['selftest', '--clean'], options)).code).to.equal(0);
    expect(await selftestNamespaces(environment), 'an object of another name').to.deep.equal(['other']);
    await environment.kubernetes.remove('Namespace', 'other');
    await eventually(async () => expect(await selftestNamespaces(environment)).to.deep.equal([]));

    const { code, stdout, stderr } = await runIpledger([...args, '--nodes', 'node-a', 'node-b'], options);
    expect(code, stdout + stderr).to.equal(0);
    const { steps } = JSON.parse(stdout) as { steps: { step: string; result: string; detail: string }[] };
    expect(steps, stdout).to.have.length(7);
    expect(steps[5]?.detail, stdout).to.match(/^on-1: \d+ AddressAllocated, \d+ AddressBound, .*on-2: /);
    // The API server of this cluster reaches no kubelet
    expect(steps[3]?.detail).to.match(/on-1 to 10\.9\.0\.\d+: not possible \(.+\)/);
    expect(steps.filter(({ result }) => result !== 'passed').map(({ step }) => step)).to.deep.equal([
      'Pods reach each other across nodes',
    ]);
    expect(await selftestNamespaces(environment)).to.deep.equal([]);
  });

  it('ipledger selftest removes its objects after a step failed, and after Ctrl-C', async (environment) => {
    const { cluster, allocator } = environment.stack;
    const args = ['selftest', '--network', 'default/lan', '--default-network', '--image', 'none.test/none:1'];
    const options = { allocator, kubeconfig: cluster.kubeconfig };
    const failed = await runIpledger([...args, '--nodes', 'node-a', 'node-b', '--timeout', '3'], options);
    expect(failed.code, failed.stdout + failed.stderr).to.equal(1);
    expect(failed.stdout)
      .to.match(/^failed /m)
      .and.to.match(/^passed +all that it made is removed/m);
    expect(await selftestNamespaces(environment)).to.deep.equal([]);

    const env = childEnvironment({ HOME: '', IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: cluster.kubeconfig });
    const child = spawn(join(root, 'cli/ipledger'), [...args, '--nodes', 'node-a'], { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await eventually(async () => expect(await selftestNamespaces(environment)).to.have.length(1));
    child.kill('SIGINT');
    expect((await ended)[0]).to.equal(130);
    expect(await selftestNamespaces(environment)).to.deep.equal([]);
  });

  it('workloads leave nothing after they are scaled to zero', async (environment) => {
    await scaleWorkload(environment, 'Deployment', 'web', 0);
    await scaleWorkload(environment, 'StatefulSet', 'db', 0);
    await Promise.all([waitForPods(environment, 'web', 0), waitForPods(environment, 'db', 0)]);
    await eventually(() => expect([environment.a, environment.b].flatMap(listSandboxes)).to.deep.equal([]));
    await eventually(async () => expect(await environment.kubernetes.list('IP')).to.deep.equal([]));
  });
});

async function selftestNamespaces({ kubernetes }: NodeEnvironment): Promise<string[]> {
  const namespaces = await kubernetes.list('Namespace', 'labelSelector=ipledger.io/selftest');
  return namespaces.map(({ metadata }) => metadata.name);
}
