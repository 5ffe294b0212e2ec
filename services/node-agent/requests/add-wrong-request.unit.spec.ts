import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import type { BindingClient } from '../bindings/binding-client.ts';
import { add, type AddDeps } from './add.ts';
import {
  FakeBindingClient,
  fakeBindingFiles,
  lingeringBindings,
  neverAborted,
  rejectionOf,
  request,
  unansweredProbe,
} from '../testing/fakes.ts';

function depsWith(allocator: FakeBindingClient, readPodWarning: () => Promise<string>): AddDeps {
  const files = fakeBindingFiles();
  return {
    allocator,
    lookUpPod: () => Promise.reject(new Error('a request with a uid needs no lookup')),
    readPodWarning,
    files,
    lingering: lingeringBindings(allocator, files),
    probe: unansweredProbe,
    sandbox: { prepare: () => Promise.resolve() },
    node: 'node-a',
    bootId: 'boot-1',
    faultCheckMs: 1,
    log: pino({ level: 'silent' }),
  };
}

describe('ADD of a Pod for which pod-watcher has requested nothing', () => {
  it('ADD stops waiting for an address if the Pod’s own request is wrong', async () => {
    const allocator = new FakeBindingClient();
    const attach: BindingClient['attach'] = (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new IpledgerError('CANCELLED', 'cancelled')));
      });
    const warning = 'stage=validatePodNetwork error=ip_address is no address: write one';
    const deps = depsWith(Object.assign(allocator, { attach }), () => Promise.resolve(warning));
    const error = await rejectionOf(add(deps, request(), neverAborted()));
    expect(error.message).to.contain(': ip_address is no address: write one. Run: ');
    // Expects an Unbind, because the aborted Attach may have been executed.
    expect(allocator.unbinds).to.have.length(1);
  });

  it('ADD continues to wait if pod-watcher shows another reason on the Pod', async () => {
    const read = Promise.withResolvers<void>();
    const allocated = Promise.withResolvers<void>();
    const allocator = new FakeBindingClient({ attach: () => allocated.promise });
    const readPodWarning = () => {
      read.resolve();
      return Promise.resolve('stage=acquireAddress provider=lan error=NoAvailableAddress: full');
    };
    const adding = add(depsWith(allocator, readPodWarning), request(), neverAborted());
    await read.promise;
    allocated.resolve();
    expect(JSON.parse(await adding)).to.have.property('error', '');
    expect(allocator.attaches.map(({ timeoutMs = 0 }) => Math.ceil(timeoutMs / 1_000))).to.deep.equal([20]);
  });
});
