import { expect } from 'chai';
import { FakeApi } from '../testing/fake-api.ts';
import { silentLogger, until } from '../testing/fakes.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { EventRecorder, type PodEvent } from './event-recorder.ts';

const pod = { apiVersion: 'v1', kind: 'Pod', namespace: 'app', name: 'a', uid: 'u' };
const full: PodEvent = { type: 'Warning', reason: 'AcquireAddressFailed', message: 'subnet macvlan is full' };

describe('Event recorder', () => {
  let api: FakeApi;
  let stop: AbortController;
  let events: EventRecorder;
  beforeEach(() => {
    api = new FakeApi();
    stop = new AbortController();
    events = new EventRecorder(api, silentLogger, stop.signal, { changedMs: 20 });
  });
  afterEach(() => stop.abort());

  const stored = (): object[] => [...api.objects.values()];
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

  it('Event recorder writes an Event with its object and message', async () => {
    events.record(pod, full);
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

  it('Event recorder escapes control characters that a tenant wrote into the message', async () => {
    events.record(pod, { ...full, message: 'network "a\u001b[2J\u202eb\nNormal  Scheduled" does not exist' });
    await until(() => api.objects.size === 1);
    expect(stored()[0]).to.include({
      message: 'network "a\\u001b[2J\\u202eb\\u000aNormal  Scheduled" does not exist',
    });
  });

  it('Event recorder writes Events of cluster-scoped objects to the namespace default', async () => {
    events.record({ ...pod, kind: 'Subnet', namespace: '' }, full);
    await until(() => api.objects.size === 1);
    expect([...api.objects.keys()][0]).to.match(/^\/api\/v1\/namespaces\/default\/events\//);
    expect(stored()[0]).to.have.property('involvedObject').that.not.has.property('namespace');
  });

  it('Event recorder writes one Event for each reason with the latest message, and not each repetition', async () => {
    events.record(pod, full);
    await until(() => api.objects.size === 1);
    await settled();
    for (let times = 0; times < 10; times++) events.record(pod, full);
    await settled();
    expect(api.writes).to.have.length(1);
    events.record(pod, { ...full, message: 'subnet vlan is full' });
    await until(() => api.writes.length === 2);
    expect(stored()).to.have.length(1);
    expect(stored()[0]).to.include({ message: 'subnet vlan is full', count: 12 });
    events.record(pod, { ...full, reason: 'Other' });
    await until(() => api.objects.size === 2);
  });

  it('Event recorder limits the writes of changing messages, and writes the latest one', async () => {
    events = new EventRecorder(api, silentLogger, stop.signal, { changedMs: 3_600_000 });
    for (let times = 0; times < 5; times++) {
      events.record(pod, { ...full, message: `subnet ${times} is full` });
      await settled();
    }
    expect(api.writes).to.have.length(1);
    expect(stored()[0]).to.include({ message: 'subnet 0 is full', count: 1 });
  });

  it('Event recorder counts the occurrences between two writes', async () => {
    for (let times = 0; times < 5; times++) events.record(pod, { ...full, message: `subnet ${times} is full` });
    await until(() => stored().some((each) => 'message' in each && each.message === 'subnet 4 is full'));
    expect(stored()[0]).to.include({ count: 5 });
  });

  it('Event recorder writes a message that arrives during a write', async () => {
    api.onWrite = () => {
      api.onWrite = undefined;
      events.record(pod, { ...full, message: 'news' });
    };
    events.record(pod, full);
    await until(() => api.writes.length === 2);
    expect(stored()[0]).to.include({ message: 'news', count: 2 });
  });

  it('Event recorder continues the count of an Event from before a restart, and creates it again after it has expired', async () => {
    events.record(pod, full);
    await until(() => api.objects.size === 1);
    const again = new EventRecorder(api, silentLogger, stop.signal, { changedMs: 20 });
    again.record(pod, full);
    await until(() => stored().some((each) => 'count' in each && each.count === 2));
    api.objects.clear();
    await settled();
    again.record(pod, { ...full, message: 'news' });
    await until(() => api.objects.size === 1);
    expect(stored()[0]).to.include({ message: 'news', count: 1 });
  });

  it('Event recorder shortens a message to the limit of an Event, and keeps its end', async () => {
    events.record(pod, { ...full, message: `${'x'.repeat(5_000)}; widen the subnet` });
    await until(() => api.objects.size === 1);
    expect(stored()[0]).to.have.property('message').with.length(1_022);
    expect(stored()[0])
      .to.have.property('message')
      .that.matches(/^x+ … x+; widen the subnet$/);
  });

  it('Event recorder gives valid names to Events of objects with long names', async () => {
    events.record({ ...pod, name: `${'a'.repeat(228)}-.${'b'.repeat(20)}` }, full);
    await until(() => api.objects.size === 1);
    expect([...api.objects.keys()][0]).to.match(/\/a{228}\.[0-9a-f]{16}$/);
  });

  it('Event recorder drops an Event that the API server rejects', async () => {
    api.failRequest = () => new ApiError(403, 'the namespace is being terminated');
    events.record(pod, full);
    await settled();
    api.failRequest = undefined;
    events.record({ ...pod, uid: 'other' }, full);
    await until(() => api.objects.size === 1);
    expect(stored()[0]).to.have.property('involvedObject').that.includes({ uid: 'other' });
  });

  it('Event recorder drops Events of the namespace that has most of them, and keeps those of other namespaces', async () => {
    events.record({ ...pod, namespace: 'quiet', name: 'victim', uid: 'victim' }, full);
    for (let index = 0; index < 20_000; index++)
      events.record({ ...pod, namespace: 'busy', name: `p${index}`, uid: `u${index}` }, full);
    await until(() => [...api.objects.keys()].some((path) => path.includes('/namespaces/quiet/events/victim.')));
  });
});
