import { expect } from 'chai';
import { toldFrom } from './told.ts';

const pod = { namespace: 'default', uid: 'u-1' };
const signal = new AbortController().signal;
const source = { component: 'ipledger-pod-watcher' };

const answering = (status: number, items: unknown) =>
  toldFrom(() => Promise.resolve({ status, body: JSON.stringify({ items }) }))(pod, signal);

describe('what pod-watcher told about a Pod', () => {
  it('is the message of its latest warning', async () => {
    const told = await answering(200, [
      { message: 'first', lastTimestamp: '2026-01-31T08:00:00Z', source },
      { message: 'last', lastTimestamp: '2026-01-31T08:00:09Z', source },
      { message: 'of the kubelet', lastTimestamp: '2026-01-31T08:00:30Z', source: { component: 'kubelet' } },
    ]);
    expect(told).to.equal('last');
  });

  it('is why nothing is allocated, before a later warning about a network that is not served', async () => {
    const told = await answering(200, [
      { message: 'stage=getPodKubeovnNets error=e', lastTimestamp: '2026-01-31T08:00:00Z', source },
      { message: 'default/empty is not served: …', lastTimestamp: '2026-01-31T08:00:09Z', source },
    ]);
    expect(told).to.equal('stage=getPodKubeovnNets error=e');
  });

  it('is looked for among the warnings about this uid', async () => {
    const paths: string[] = [];
    await toldFrom((path) => {
      paths.push(path);
      return Promise.resolve({ status: 200, body: '{"items":[]}' });
    })(pod, signal);
    expect(paths.map(decodeURIComponent)).to.deep.equal([
      '/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid=u-1,type=Warning',
    ]);
  });

  it('is nothing where it can’t be read', async () => {
    expect(await answering(200, [])).to.equal('');
    expect(await answering(403, [])).to.equal('');
    expect(await answering(200, 'nonsense')).to.equal('');
    expect(await toldFrom(() => Promise.reject(new Error('ECONNREFUSED')))(pod, signal)).to.equal('');
  });
});
