import { expect } from 'chai';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { createPodWarningReader } from './pod-events.ts';

const pod = { namespace: 'default', uid: 'u-1' };
const signal = new AbortController().signal;
const source = { component: 'ipledger-pod-watcher' };

const replying = (items: unknown) => createPodWarningReader(() => Promise.resolve({ items }))(pod, signal);
const failing = (error: Error) => createPodWarningReader(() => Promise.reject(error))(pod, signal);

describe('Pod warning', () => {
  it('is the message of pod-watcher’s latest Warning', async () => {
    const warning = await replying([
      { message: 'first', lastTimestamp: '2026-01-31T08:00:00Z', source },
      { message: 'last', lastTimestamp: '2026-01-31T08:00:09Z', source },
      { message: 'of the kubelet', lastTimestamp: '2026-01-31T08:00:30Z', source: { component: 'kubelet' } },
    ]);
    expect(warning).to.equal('last');
  });

  it('is the reason of a missing allocation, not a later Warning about an unserved network', async () => {
    const warning = await replying([
      { message: 'stage=getPodKubeovnNets error=e', lastTimestamp: '2026-01-31T08:00:00Z', source },
      { message: 'default/empty is not served: …', lastTimestamp: '2026-01-31T08:00:09Z', source },
    ]);
    expect(warning).to.equal('stage=getPodKubeovnNets error=e');
  });

  it('is one of the Warnings about the Pod’s uid', async () => {
    const paths: string[] = [];
    await createPodWarningReader((path) => {
      paths.push(path);
      return Promise.resolve({ items: [] });
    })(pod, signal);
    expect(paths.map(decodeURIComponent)).to.deep.equal([
      '/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid=u-1,type=Warning',
    ]);
  });

  it('is empty when the Events cannot be read', async () => {
    expect(await replying([])).to.equal('');
    expect(await failing(new ApiError(403, '403 no'))).to.equal('');
    expect(await replying('nonsense')).to.equal('');
    expect(await failing(new Error('ECONNREFUSED'))).to.equal('');
  });
});
