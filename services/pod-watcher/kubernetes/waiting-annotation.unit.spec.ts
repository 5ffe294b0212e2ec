import { expect } from 'chai';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { podNamed, silentLogger, until } from '../testing/fakes.ts';
import { WaitingAnnotation } from './waiting-annotation.ts';

const path = '/api/v1/namespaces/default/pods/web';
const warning = (message: string) => ({ type: 'Warning', reason: 'AcquireAddressFailed', message }) as const;
const allocated = { type: 'Normal', reason: 'PodNetworkAllocated', message: 'subnet=lan' } as const;

describe('The annotation of a waiting Pod', () => {
  let stop: AbortController;
  let api: FakeApi;
  let waiting: WaitingAnnotation;
  beforeEach(() => {
    stop = new AbortController();
    api = new FakeApi();
    api.put(path, { metadata: { name: 'web', namespace: 'default', uid: 'uid-web' } });
    waiting = new WaitingAnnotation(api, silentLogger, stop.signal, 0);
  });
  afterEach(() => stop.abort());

  const shown = (): unknown =>
    (api.objects.get(path)?.metadata['annotations'] as Record<string, unknown>)?.['ipledger.io/waiting'];

  it('The annotation of a waiting Pod has the reason why the Pod has no addresses, and not a later Warning about another network', async () => {
    waiting.record(podNamed('web'), warning('default/empty is not served'));
    waiting.record(podNamed('web'), warning('stage=acquireAddress error=the Subnet is full'));
    waiting.record(podNamed('web'), warning('default/empty is not served'));
    await until(() => shown() !== undefined);
    expect(shown()).to.equal('stage=acquireAddress error=the Subnet is full');
    expect(api.writes).to.have.length(1);
  });

  it('The annotation of a waiting Pod has at most 512 bytes, and keeps its end', async () => {
    waiting.record(podNamed('web'), warning(`stage=a error=${'é'.repeat(2_000)}; widen the subnet`));
    await until(() => shown() !== undefined);
    expect(Buffer.byteLength(String(shown()))).to.be.within(500, 512);
    expect(shown()).to.match(/^stage=a error=é+ … é+; widen the subnet$/);
  });

  it('The annotation of a waiting Pod is not written again for the same reason, and not at once for another reason', async () => {
    waiting.record(podNamed('web'), warning('stage=a error=first'));
    await until(() => shown() === 'stage=a error=first');
    for (const text of ['first', 'second', 'first']) waiting.record(podNamed('web'), warning(`stage=a error=${text}`));
    api.put('/api/v1/namespaces/default/pods/other', {
      metadata: { name: 'other', namespace: 'default', uid: 'uid-other' },
    });
    waiting.record(podNamed('other'), warning('stage=a error=other'));
    await until(() => api.writes.length === 2);
    expect(shown()).to.equal('stage=a error=first');
  });

  it('The annotation of a waiting Pod is not written to another Pod of the same name, or again after a rejection', async () => {
    waiting.record(podNamed('web', { uid: 'earlier' }), warning('stage=a error=e'));
    await until(() => api.writes.length === 1);
    expect(shown()).to.equal(undefined);
  });

  it('The annotation of a waiting Pod is written when the API server is back', async () => {
    const failures = [new ApiError(503, 'unavailable')];
    api.failRequest = () => failures.pop();
    waiting.record(podNamed('web'), warning('stage=a error=e'));
    await until(() => shown() === 'stage=a error=e');
  });

  it('The annotation of a waiting Pod is removed when the Pod gets its addresses before it was written', async () => {
    waiting.record(podNamed('web'), warning('stage=a error=e'));
    waiting.record(podNamed('web'), allocated);
    waiting.record(podNamed('web', { uid: 'uid-web' }), warning('stage=a error=again'));
    await until(() => shown() === 'stage=a error=again');
    expect(api.writes).to.have.length(1);
  });

  it('The annotation of a waiting Pod is removed at once when the Pod gets its addresses', async () => {
    waiting.record(podNamed('web'), warning('stage=a error=e'));
    await until(() => shown() === 'stage=a error=e');
    waiting.record(podNamed('web'), allocated);
    await until(() => shown() === null || shown() === undefined);
    expect(api.writes).to.have.length(2);
  });

  it('The annotation of a waiting Pod is removed also if another watcher wrote it', async () => {
    const annotations = { 'ipledger.io/waiting': 'stage=a error=e' };
    api.put(path, { metadata: { name: 'web', namespace: 'default', uid: 'uid-web', annotations } });
    waiting.end(podNamed('web', { annotations }));
    await until(() => shown() === null || shown() === undefined);
  });

  it('The annotation of a waiting Pod is not written while the Pod waits for a short time', async () => {
    const patient = new WaitingAnnotation(api, silentLogger, stop.signal, 3_600_000);
    patient.record(podNamed('web'), warning('stage=a error=e'));
    patient.record(podNamed('web'), allocated);
    waiting.record(podNamed('web'), warning('stage=a error=other'));
    await until(() => shown() !== undefined);
    expect(api.writes).to.have.length(1);
  });
});
