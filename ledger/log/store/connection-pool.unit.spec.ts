import { expect } from 'chai';
import { GRPCUnavailableError } from 'etcd3';
import { ClusterHealth } from './cluster-health.ts';
import { CallOnce } from './connection-pool.ts';

describe('CallOnce', () => {
  const noReply = new Promise<never>(() => undefined);

  it('CallOnce ends a call that a member forwarded to a leader which etcd has replaced', async () => {
    const health = new ClusterHealth(['one', 'two']);
    health.onAnswered(1, 0, 1);
    const call = new CallOnce(health, 0).execute(() => noReply);
    health.onAnswered(1, 1, 2);
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(GRPCUnavailableError)
      .with.property('message')
      .that.matches(/elected a leader/);
  });

  it('CallOnce ends a call at a member that is lost, and returns the reply of a member that answers', async () => {
    const health = new ClusterHealth(['one', 'two']);
    const toLost = new CallOnce(health, 0).execute(() => noReply);
    const reply = new CallOnce(health, 1).execute(() => 'reply');
    health.onFailed(0, new Error('refused'));
    const error: unknown = await toLost.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'one does not answer: refused');
    expect(await reply).to.equal('reply');
  });
});
