import { expect } from 'chai';
import { FakeApi } from '../fake-api.ts';
import { silent, until } from '../fakes.ts';
import { ApiError } from './api.ts';
import { Events, type Happening } from './events.ts';

const pod = { apiVersion: 'v1', kind: 'Pod', namespace: 'app', name: 'a', uid: 'u' };
const full: Happening = { type: 'Warning', reason: 'AcquireAddressFailed', message: 'subnet macvlan is full' };

describe('Kubernetes Events', () => {
  let api: FakeApi;
  let stop: AbortController;
  let events: Events;
  beforeEach(() => {
    api = new FakeApi();
    stop = new AbortController();
    events = new Events(api, silent, stop.signal, { newsMs: 20 });
  });
  afterEach(() => stop.abort());

  const stored = (): object[] => [...api.objects.values()];
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

  it('say what happened to which object', async () => {
    events.say(pod, full);
    await until(() => api.objects.size === 1);
    expect([...api.objects.keys()][0]).to.match(/^\/api\/v1\/namespaces\/app\/events\/a\.[0-9a-f]{16}$/);
    expect(stored()[0]).to.deep.include({
      involvedObject: pod,
      source: { component: 'ipledger-pod-watcher' },
      type: 'Warning',
      reason: 'AcquireAddressFailed',
      message: 'subnet macvlan is full',
      count: 1,
    });
  });

  it('of a cluster-scoped object stand in the namespace default', async () => {
    events.say({ ...pod, kind: 'Subnet', namespace: '' }, full);
    await until(() => api.objects.size === 1);
    expect([...api.objects.keys()][0]).to.match(/^\/api\/v1\/namespaces\/default\/events\//);
    expect(stored()[0]).to.have.property('involvedObject').that.not.has.property('namespace');
  });

  it('are one object for each reason, with the latest message; what repeats is not written each time', async () => {
    events.say(pod, full);
    await until(() => api.objects.size === 1);
    await settled();
    for (let times = 0; times < 10; times++) events.say(pod, full);
    await settled();
    expect(api.writes).to.have.length(1);
    events.say(pod, { ...full, message: 'subnet vlan is full' });
    await until(() => api.writes.length === 2);
    expect(stored()).to.have.length(1);
    expect(stored()[0]).to.include({ message: 'subnet vlan is full', count: 12 });
    events.say(pod, { ...full, reason: 'Other' });
    await until(() => api.objects.size === 2);
  });

  it('are rewritten now and then only, with the newest message, when each one is news', async () => {
    events = new Events(api, silent, stop.signal, { newsMs: 3_600_000 });
    for (let times = 0; times < 5; times++) {
      events.say(pod, { ...full, message: `subnet ${times} is full` });
      await settled();
    }
    expect(api.writes).to.have.length(1);
    expect(stored()[0]).to.include({ message: 'subnet 0 is full', count: 1 });
  });

  it('count all that was said while one was not rewritten', async () => {
    for (let times = 0; times < 5; times++) events.say(pod, { ...full, message: `subnet ${times} is full` });
    await until(() => stored().some((each) => 'message' in each && each.message === 'subnet 4 is full'));
    expect(stored()[0]).to.include({ count: 5 });
  });

  it('say the news that came while one was being written, in time', async () => {
    api.onWrite = () => {
      api.onWrite = undefined;
      events.say(pod, { ...full, message: 'news' });
    };
    events.say(pod, full);
    await until(() => api.writes.length === 2);
    expect(stored()[0]).to.include({ message: 'news', count: 2 });
  });

  it('go on counting one from before a restart, and begin anew when the API server forgot it', async () => {
    events.say(pod, full);
    await until(() => api.objects.size === 1);
    const again = new Events(api, silent, stop.signal, { newsMs: 20 });
    again.say(pod, full);
    await until(() => stored().some((each) => 'count' in each && each.count === 2));
    api.objects.clear();
    await settled();
    again.say(pod, { ...full, message: 'news' });
    await until(() => api.objects.size === 1);
    expect(stored()[0]).to.include({ message: 'news', count: 1 });
  });

  it('are cut to what an Event can hold', async () => {
    events.say(pod, { ...full, message: 'x'.repeat(5_000) });
    await until(() => api.objects.size === 1);
    expect(stored()[0]).to.have.property('message').with.length(1_024);
  });

  it('have names that Kubernetes takes, however long the object’s is', async () => {
    events.say({ ...pod, name: `${'a'.repeat(228)}-.${'b'.repeat(20)}` }, full);
    await until(() => api.objects.size === 1);
    expect([...api.objects.keys()][0]).to.match(/\/a{228}\.[0-9a-f]{16}$/);
  });

  it('are a courtesy: what the API refuses is dropped', async () => {
    api.trouble = () => new ApiError(403, 'the namespace is being terminated');
    events.say(pod, full);
    await settled();
    api.trouble = undefined;
    events.say({ ...pod, uid: 'other' }, full);
    await until(() => api.objects.size === 1);
    expect(stored()[0]).to.have.property('involvedObject').that.includes({ uid: 'other' });
  });
});
