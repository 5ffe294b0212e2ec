import { expect } from 'chai';
import { parseClaim } from './stored-values.ts';
import { SharedClaimValues } from './shared-claim-values.ts';

describe('Shared values of claims', () => {
  it('are equal to the given ones, also for lists that look like others', () => {
    const shared = new SharedClaimValues();
    const lists = [[], ['a'], ['a', 'b'], ['["a","b"]'], ['1 a'], ['a,b']];
    for (const list of [...lists, ...lists]) expect(shared.list(list)).to.deep.equal(list);
    expect(shared.list(['a', 'b'])).to.equal(shared.list(['a', 'b']));
    expect(shared.text('node-1')).to.equal('node-1');
  });

  it('of two claims are the same object, and each claim is as it is alone', () => {
    const shared = new SharedClaimValues();
    const at = '2026-11-17T14:05:00.000Z';
    const claimText = (pod: string): string => {
      const attachment = { namespace: 'default', pod, provider: 'lan.default', ordinal: 0 };
      const owner = { kind: 'ReplicaSet', name: 'web', uid: 'uid-of-web' };
      const given = { attachment, uid: `uid-${pod}`, owner, node: 'node-1', addresses: [], mac: '', interface: 'net1' };
      const binding = { alloc: 1, attachment, containerId: pod, interface: 'net1', node: 'node-1', bootId: 'boot', at };
      const holder = { ...given, cause: 'dynamic', routes: [], at };
      return JSON.stringify({ last: 2, at, networks: ['lan'], alloc: 1, holder, bindings: [binding] });
    };
    const [one, other] = ['a', 'b'].map((pod) =>
      parseClaim({ subnet: 'lan', address: '10.0.0.2' }, claimText(pod), shared),
    );
    expect(one).to.deep.equal(parseClaim({ subnet: 'lan', address: '10.0.0.2' }, claimText('a')));
    expect(other?.allocation?.attachment.pod).to.equal('b');
    expect(one?.networks).to.equal(other?.networks);
    expect(one?.allocation?.owner).to.equal(other?.allocation?.owner);
    expect(one?.bindings[0]?.attachment).to.equal(one?.allocation?.attachment);
  });
});
