import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { PendingRequest, QueuedRequest } from '../pending-request.ts';
import { RequestQueue } from './request-queue.ts';

describe('The queue of requests', () => {
  let queue: RequestQueue;
  let rejected: string[];
  const names = new Map<QueuedRequest, string>();

  const requestOf = (
    name: string,
    aborted = false,
    more: Pick<PendingRequest<unknown>, 'command' | 'expiresAt'> = {},
  ): QueuedRequest => {
    const [actor = ''] = name.split('-');
    const reject = (): void => void rejected.push(name);
    const request = { actor, answer: () => undefined, signal: { aborted }, ...more };
    const queued = { request, resolve: () => {}, reject };
    names.set(queued, name);
    return queued;
  };
  const taken = (): string[] => {
    const all: string[] = [];
    for (let next = queue.shift(); next; next = queue.shift()) all.push(names.get(next) ?? '');
    return all;
  };
  const push = (...requests: string[]): void => requests.forEach((name) => queue.push(requestOf(name)));

  beforeEach(() => {
    queue = new RequestQueue();
    rejected = [];
  });

  it('The queue of requests takes one request of each identity in turn, each in the order of arrival', () => {
    push('a-1', 'a-2', 'a-3', 'b-1', 'c-1', 'b-2');
    expect(queue.length).to.equal(6);
    expect(taken()).to.deep.equal(['a-1', 'b-1', 'c-1', 'a-2', 'b-2', 'a-3']);
    expect(queue.length).to.equal(0);
  });

  it('The queue of requests takes the request of a new identity after one request of each other identity, however many wait', () => {
    push(...Array.from({ length: 1_000 }, (_, index) => `a-${index}`));
    queue.shift();
    push('b-1');
    queue.shift();
    expect(names.get(queue.shift() as QueuedRequest)).to.equal('b-1');
  });

  it('kinds of identities take turns, so that many identities of a kind delay another kind no more than one does', () => {
    push(...Array.from({ length: 100 }, (_, index) => `ipledger://agent/node${index}-1`));
    push('ipledger://watcher-1', 'ipledger://watcher-2', 'ipledger://agent/node0-2');
    expect(taken().slice(0, 5)).to.deep.equal([
      'ipledger://agent/node0-1',
      'ipledger://watcher-1',
      'ipledger://agent/node1-1',
      'ipledger://watcher-2',
      'ipledger://agent/node2-1',
    ]);
  });

  it('The queue of requests takes the requests that were put back first, in their order', () => {
    push('a-1', 'b-1', 'a-2');
    const undone = [queue.shift(), queue.shift()] as QueuedRequest[];
    push('c-1');
    queue.putBack(undone);
    expect(queue.length).to.equal(4);
    expect(taken()).to.deep.equal(['a-1', 'b-1', 'a-2', 'c-1']);
    expect(queue.length).to.equal(0);
  });

  it('The queue of requests rejects the requests whose caller has left, and keeps the turns of the others', () => {
    push('a-1', 'a-2');
    queue.push(requestOf('b-1', true));
    push('c-1');
    queue.rejectExpired(0, () => new IpledgerError('UNAVAILABLE', 'etcd is down'));
    expect(rejected).to.deep.equal(['b-1']);
    expect(queue.length).to.equal(3);
    expect(taken()).to.deep.equal(['a-1', 'c-1', 'a-2']);
  });

  it('The queue of requests rejects the requests whose caller leaves before the given time or at it', () => {
    for (const expiresAt of [4, 5, 6]) queue.push(requestOf(`a-${expiresAt}`, false, { expiresAt }));
    queue.rejectExpired(5, () => new IpledgerError('UNAVAILABLE', 'etcd is down'));
    expect([rejected, taken()]).to.deep.equal([['a-4', 'a-5'], ['a-6']]);
  });

  it('The queue of requests gives out its queries, and keeps its commands', () => {
    push('a-query');
    queue.push(requestOf('a-command', false, { command: () => undefined }));
    expect(queue.takeQueries().map((each) => names.get(each))).to.deep.equal(['a-query']);
    expect(taken()).to.deep.equal(['a-command']);
  });

  it('The queue of requests wakes its reader when a request arrives', async () => {
    let isWoken = false;
    void queue.untilArrival(new AbortController().signal).then(() => (isWoken = true));
    await turn();
    expect(isWoken).to.equal(false);
    push('a-1');
    await turn();
    expect(isWoken).to.equal(true);
  });

  it('The queue of requests is shared for a second after requests of two identities', () => {
    const now = performance.now.bind(performance);
    let ms = 5_000;
    performance.now = () => ms;
    try {
      const sharedAfter = (pauseMs: number, ...pushed: string[]): boolean => {
        push(...pushed);
        ms += pauseMs;
        return queue.isShared;
      };
      expect(sharedAfter(0), 'an empty queue').to.equal(false);
      expect(sharedAfter(0, 'a-1', 'a-2'), 'one identity').to.equal(false);
      expect(sharedAfter(999, 'b-1')).to.equal(true);
      expect(sharedAfter(1, 'b-2')).to.equal(false);
      expect(sharedAfter(0, 'b-3', 'a-3')).to.equal(true);
    } finally {
      performance.now = now;
    }
  });

  it('rejectAll rejects all waiting requests, even those that were put back', () => {
    push('a-1', 'b-1', 'a-2');
    const undone = queue.shift() as QueuedRequest;
    queue.putBack([undone]);
    queue.remove(new Set([undone]));
    expect(queue.length).to.equal(2);
    queue.rejectAll(() => new IpledgerError('NOT_WRITER', 'another replica is the writer'));
    expect(rejected).to.have.members(['a-2', 'b-1']);
    expect([queue.length, taken()]).to.deep.equal([0, []]);
  });
});
