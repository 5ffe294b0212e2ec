import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { fakeLedgerClient } from '../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { heldAllocation } from '../../testing/fakes.ts';
import { AllocationCache } from './allocation-cache.ts';
import { PodReleaser } from './pod-releaser.ts';
import type { PodTermination } from './pod-termination.ts';
import { podWithNetwork } from './testing/pod-controller-world.ts';

describe('An attachment that its living Pod no longer requests', () => {
  const pod = podWithNetwork('a', { spec: { nodeName: 'node-1' } });
  const held = [heldAllocation('a', { seq: 8 }), heldAllocation('a', { seq: 9 })];

  interface Situation {
    readonly mayBeOld?: boolean;
    /** The error of each release. */
    readonly refusal?: IpledgerError;
    /** The addresses to which a container of the Pod is bound. */
    readonly bound?: readonly string[];
  }

  /** A releaser, with the requests that it sends. */
  function open({ mayBeOld = false, refusal, bound = [] }: Situation = {}) {
    const requests: string[] = [];
    const releaser = new PodReleaser({
      allocator: fakeLedgerClient({
        release: ({ allocationSeq = '' }) => {
          requests.push(`release ${allocationSeq}`);
          return refusal ? Promise.reject(refusal) : Promise.resolve({});
        },
        listBindings: () => {
          requests.push('list bindings');
          const attachment = { namespace: 'default', pod: 'a', provider: 'macvlan.default' };
          return Promise.resolve({ bindings: [{ attachment, addresses: [...bound] }] });
        },
      }),
      allocations: new AllocationCache(),
      termination: { mayBeOld: () => mayBeOld } as unknown as PodTermination,
      signal: new AbortController().signal,
    });
    return { releaser, requests };
  }

  it('An attachment that its living Pod no longer requests is released', async () => {
    const { releaser, requests } = open();
    expect(await releaser.releaseDetached(pod, held)).to.equal('done');
    expect(requests).to.deep.equal(['list bindings', 'release 8', 'release 9']);
  });

  it('An attachment that its living Pod no longer requests is kept while a container is bound to one of its addresses', async () => {
    const dual = ['10.0.0.2', 'fd00::2'].map((address) => ({ address, cidr: '', gateway: '' }));
    for (const bound of ['10.0.0.2', 'fd00::2']) {
      const { releaser, requests } = open({ bound: [bound] });
      expect(await releaser.releaseDetached(pod, [heldAllocation('a', { addresses: dual })])).to.equal('again');
      expect(requests).to.deep.equal(['list bindings']);
    }
  });

  it('An attachment that its living Pod no longer requests is kept while the API server may show an old Pod', async () => {
    for (const count of [1, 2]) {
      const { releaser, requests } = open({ mayBeOld: true });
      expect(await releaser.releaseDetached(pod, held.slice(0, count))).to.equal('again');
      expect(requests).to.deep.equal([]);
    }
  });

  it('A living Pod that requests all its attachments costs no request, and is not retried while the API server may show an old Pod', async () => {
    const { releaser, requests } = open({ mayBeOld: true });
    expect(await releaser.releaseDetached(pod, [])).to.equal('done');
    expect(requests).to.deep.equal([]);
  });

  it('An attachment that its living Pod no longer requests is tried again if a container was bound to it after the list of bindings', async () => {
    const { releaser } = open({ refusal: new IpledgerError('ADDRESS_IN_USE', 'a container is bound') });
    expect(await releaser.releaseDetached(pod, held)).to.equal('again');
    expect([...releaser.stillBound]).to.deep.equal(['default/a']);
  });

  it('An attachment that its living Pod no longer requests is released once its last container is unbound', async () => {
    const bound = ['10.0.0.2'];
    const { releaser, requests } = open({ bound });
    expect(await releaser.releaseDetached(pod, held)).to.equal('again');
    bound.length = 0;
    expect(await releaser.releaseDetached(pod, held)).to.equal('done');
    expect([requests.slice(1), releaser.stillBound.size]).to.deep.equal([
      ['list bindings', 'release 8', 'release 9'],
      0,
    ]);
  });

  it('An attachment that its living Pod no longer requests is released without a list of bindings if the Pod has no node', async () => {
    const { releaser, requests } = open({ bound: ['10.0.0.2'] });
    expect(await releaser.releaseDetached(podWithNetwork('a'), held)).to.equal('done');
    expect(requests).to.deep.equal(['release 8', 'release 9']);
  });

  it('An attachment that its living Pod no longer requests is tried again if the allocator does not answer', async () => {
    const { releaser } = open({ refusal: new IpledgerError('UNAVAILABLE', 'connection lost') });
    const error: unknown = await releaser.releaseDetached(pod, held).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'UNAVAILABLE');
    expect(releaser.stillBound.size).to.equal(0);
  });
});
