import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import { CliError } from '../cli-error.ts';
import type { Part } from './facts.ts';
import { gatherFacts } from './gather-facts.ts';

/** The facts of an installation whose allocators answer with an error. */
const gatherWith = (error: Error, skip: readonly Part[] = ['kubernetes', 'comparison', 'metrics']) =>
  gatherFacts({
    allocator: {
      call: () => Promise.reject(error),
      stream: () => {
        throw error;
      },
      [Symbol.dispose]: () => undefined,
    },
    endpoints: [],
    options: {},
    namespace: 'ipledger-system',
    skip,
    addresses: [],
    signal: new AbortController().signal,
  });

describe('A part that cannot be read', () => {
  it('A part that cannot be read is lasting when a permission or a login is missing, in the ledger or in the Kubernetes API', async () => {
    const forbidden = new ApiError(403, '403 pods is forbidden');
    for (const error of [
      new IpledgerError('PERMISSION_DENIED', 'anna must not read the status'),
      new CliError('unreachable', 'cannot read /api/v1/pods', { cause: forbidden }),
      new CliError('unreachable', 'cannot read /api/v1/pods', { cause: new ApiError(401, '401 Unauthorized') }),
    ]) {
      const { gaps } = await gatherWith(error);
      expect(gaps).to.deep.include({ part: 'allocators', reason: error.message, isLasting: true });
    }
  });

  it('A part that cannot be read is lasting without a kubeconfig', async () => {
    const { HOME, KUBECONFIG, KUBERNETES_SERVICE_HOST } = process.env;
    Object.assign(process.env, { HOME: '', KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' });
    try {
      const { gaps } = await gatherWith(new Error('it is down'), ['metrics']);
      const reason = 'there is no kubeconfig: set KUBECONFIG, or add --skip kubernetes';
      expect(gaps).to.deep.include({ part: 'Kubernetes', reason, isLasting: true });
    } finally {
      for (const [name, value] of Object.entries({ HOME, KUBECONFIG, KUBERNETES_SERVICE_HOST }))
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
    }
  });

  it('A part that cannot be read may heal when the program or the Kubernetes API does not answer', async () => {
    for (const error of [
      new IpledgerError('UNAVAILABLE', 'the allocator starts'),
      new CliError('unreachable', 'no answer', { cause: new ApiError(503, '503 starting') }),
    ]) {
      const { gaps } = await gatherWith(error);
      expect(gaps).to.deep.include({ part: 'allocators', reason: error.message });
    }
  });
});
