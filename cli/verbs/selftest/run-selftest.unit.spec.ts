import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { runAndRemove } from './run-selftest.ts';

const plan = { id: '1a2b', nodes: ['n'], image: 'box', network: 'a/b', isDefaultNetwork: false, group: 'kubeovn.io' };
const kubernetesThat = (list: () => Promise<never[]>): KubernetesClient => {
  const unused = (): Promise<never> => Promise.reject(new Error('it is not called'));
  const methods = { get: unused, readText: unused, create: unused, replace: unused, patch: unused, remove: unused };
  return { besideKubeOvn: false, ...methods, list };
};
const down = kubernetesThat(() => Promise.reject(new Error('it is down')));

describe('A selftest', () => {
  it('reports what may be left after Ctrl-C, and nothing when all is removed', async () => {
    for (const [kubernetes, expected] of [
      [down, ['left: perhaps namespace ipledger-selftest-1a2b (it is down). Run: ipledger selftest --clean']],
      [kubernetesThat(() => Promise.resolve([])), []],
    ] as const) {
      const reported: string[] = [];
      const interrupted = new IpledgerError('CANCELLED', 'Ctrl-C');
      const run = runAndRemove(
        plan,
        () => Promise.reject(interrupted),
        kubernetes,
        (text) => void reported.push(text),
      );
      expect(await run.catch((error: unknown) => error)).to.equal(interrupted);
      expect(reported).to.deep.equal(expected);
    }
  });

  it('keeps its steps when the removal fails', async () => {
    const passed = { step: 'one', result: 'passed', detail: '' } as const;
    const steps = await runAndRemove(
      plan,
      () => Promise.resolve([passed]),
      down,
      () => undefined,
    );
    expect(steps.map(({ result, detail }) => ({ result, detail }))).to.deep.equal([
      { result: 'passed', detail: '' },
      { result: 'failed', detail: 'it is down' },
    ]);
  });
});
