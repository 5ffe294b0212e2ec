import { expect } from 'chai';
import { acceptanceAnnotation } from '../../lib/kubernetes/mass-deletion-acceptance.ts';
import { AcceptedDeletions } from './accepted-deletions.ts';
import { silentLogger } from './testing/fakes.ts';

const annotationsOf = (acceptance: object | string) => ({
  [acceptanceAnnotation]: typeof acceptance === 'string' ? acceptance : JSON.stringify(acceptance),
});
const acceptance = { id: 'one', pods: { a: 30, '*': 31 }, nodes: 6, reason: 'cleaned up' };

describe('an acceptance of a mass deletion', () => {
  function world(usedBefore = '') {
    const applied: unknown[] = [];
    const events: string[] = [];
    const state = { accepted: ['a'], isAccepted: true };
    const deletions = new AcceptedDeletions({
      podController: {
        acceptMassDeletion: (pods, reason) => applied.push(pods, reason),
        get accepted() {
          return state.accepted;
        },
      },
      nodeController: {
        acceptMassDeletion: (nodes) => applied.push(nodes),
        get isAccepted() {
          return state.isAccepted;
        },
      },
      usedBefore,
      recordLeaseEvent: ({ reason }) => events.push(reason),
      log: silentLogger,
    });
    return { deletions, applied, state, events };
  }

  it('an acceptance of a mass deletion is applied once, and is used when both controllers have recovered', () => {
    const { deletions, applied, state } = world('zero');
    for (let renewals = 0; renewals < 3; renewals++) deletions.read(annotationsOf(acceptance));
    expect(applied).to.deep.equal([acceptance.pods, 'cleaned up', 6]);
    expect(deletions.used).to.equal('zero');
    state.accepted = [];
    expect(deletions.used).to.equal('zero');
    state.isAccepted = false;
    expect(deletions.used).to.equal('one');
  });

  it('an acceptance of a mass deletion records one Event when it is over', () => {
    const { deletions, state, events } = world();
    const renew = (): void => deletions.read(annotationsOf(acceptance));
    renew();
    Object.assign(state, { accepted: [], isAccepted: true });
    renew();
    expect(events).to.deep.equal([]);
    state.isAccepted = false;
    for (let renewals = 0; renewals < 3; renewals++) renew();
    expect(events).to.deep.equal(['AcceptedMassDeletionEnded']);
  });

  it('an acceptance of a mass deletion is not applied by the next watcher if it was used', () => {
    const { deletions, applied } = world('one');
    deletions.read(annotationsOf(acceptance));
    expect([applied, deletions.used]).to.deep.equal([[], 'one']);
  });

  it('an acceptance of a mass deletion replaces an earlier result', () => {
    const { deletions, applied } = world();
    deletions.read(annotationsOf(acceptance));
    deletions.read(annotationsOf({ id: 'two', pods: {}, nodes: 7, reason: '' }));
    expect(applied.slice(3)).to.deep.equal([{}, '', 7]);
  });

  it('an acceptance of a mass deletion is ignored if malformed, and so are its numbers that are not counts', () => {
    const { deletions, applied } = world();
    for (const text of ['', '{', '[]', '7', '{"pods":{"a":1}}']) deletions.read(annotationsOf(text));
    expect(applied).to.deep.equal([]);
    deletions.read(
      annotationsOf({ id: 'x', pods: { a: -1, b: 1.5, c: 'y', d: 2 }, nodes: 'all', reason: 'r'.repeat(999) }),
    );
    expect(applied).to.deep.equal([{ d: 2 }, 'r'.repeat(256), 0]);
  });
});
