import { expect } from 'chai';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { createPodWarningReader } from './pod-warning.ts';

const pod = { namespace: 'default', name: 'web', uid: 'u-1' };
const signal = new AbortController().signal;

const replying = (reply: unknown) => createPodWarningReader(() => Promise.resolve(reply))(pod, signal);
const failing = (error: Error) => createPodWarningReader(() => Promise.reject(error))(pod, signal);
const podWith = (text: string, uid = 'u-1') => ({ metadata: { uid, annotations: { 'ipledger.io/waiting': text } } });

describe('Pod warning', () => {
  it('Pod warning is the reason that pod-watcher writes on the Pod, the only object that is read', async () => {
    const paths: string[] = [];
    const read = createPodWarningReader((path) => {
      paths.push(path);
      return Promise.resolve(podWith('stage=getPodKubeovnNets error=e'));
    });
    expect(await read(pod, signal)).to.equal('stage=getPodKubeovnNets error=e');
    expect(paths).to.deep.equal(['/api/v1/namespaces/default/pods/web']);
  });

  it('Pod warning is short and printable, also when a tenant writes it', async () => {
    const text = await replying(podWith(`\u001b[2J${'x'.repeat(5_000)}`));
    expect(text.length).to.be.lessThan(600);
    expect(text).to.not.contain('\u001b');
  });

  it('Pod warning is empty for another Pod of the same name, without the annotation, and when the Pod cannot be read', async () => {
    expect(await replying(podWith('stage=a error=e', 'u-2'))).to.equal('');
    expect(await replying({ metadata: { uid: 'u-1' } })).to.equal('');
    expect(await replying('nonsense')).to.equal('');
    expect(await failing(new ApiError(403, '403 no'))).to.equal('');
    expect(await failing(new Error('ECONNREFUSED'))).to.equal('');
  });
});
