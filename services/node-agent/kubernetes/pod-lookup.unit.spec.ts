import { expect } from 'chai';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { rejectionOf } from '../testing/fakes.ts';
import { createPodLookup } from './pod-lookup.ts';

const pod = { podNamespace: 'default', podName: 'p' };
const signal = new AbortController().signal;

const replying = (object: unknown) => createPodLookup(() => Promise.resolve(object));
const failing = (status: number) => createPodLookup(() => Promise.reject(new ApiError(status, `${status} no`)));

describe('Pod lookup', () => {
  const lookUp = async (metadata: object) => replying({ metadata })(pod, signal);

  it('Pod lookup returns the Pod’s name and metadata.uid', async () => {
    expect(await lookUp({ uid: 'u-1' })).to.deep.equal({ name: 'p', uid: 'u-1', podUid: 'u-1' });
  });

  it('Pod lookup returns the hash in the mirror Pod’s annotation as the uid of a static Pod', async () => {
    const hash = 'd41d8cd98f00b204e9800998ecf8427e';
    const annotations = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash };
    expect(await lookUp({ uid: 'u-1', annotations })).to.include({ uid: hash, podUid: 'u-1' });
  });

  describe('of a Pod whose controller is a virtual machine', () => {
    const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm1', uid: 'u-of-vm1' };
    const launcher = { uid: 'u-1', ownerReferences: [{ ...machine, controller: true }] };
    /** Looks up the Pod in an API with this instance; a number is the HTTP status of its answer. */
    const lookUpLauncher = (instance: object | number, podName = 'virt-launcher-vm1-x') => {
      const paths: string[] = [];
      const get = (path: string) => {
        paths.push(path);
        if (path.includes('/pods/')) return Promise.resolve({ metadata: launcher });
        if (typeof instance === 'number') return Promise.reject(new ApiError(instance, `${instance} no`));
        return Promise.resolve(instance);
      };
      return { paths, found: createPodLookup(get)({ podNamespace: 'default', podName }, signal) };
    };
    const metadata = { uid: 'u-of-vm1' };

    it('Pod lookup returns the virtual machine of a launcher if the machine exists and lists the Pod', async () => {
      const { paths, found } = lookUpLauncher({ metadata, status: { activePods: { 'u-1': 'node-1' } } });
      expect(await found).to.deep.equal({ name: 'vm1', uid: 'u-of-vm1', podUid: 'u-1' });
      expect(paths[1]).to.equal('/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm1');
    });

    it('Pod lookup fails for a launcher if its virtual machine is absent or has another uid', async () => {
      for (const instance of [404, { metadata: { uid: 'u-other' } }]) {
        const error = await rejectionOf(lookUpLauncher(instance).found);
        expect(error.code).to.equal('NOT_ALLOCATED');
        expect(error.message).to.contain('names VirtualMachineInstance vm1 (uid u-of-vm1) as its controller');
      }
    });

    it('Pod lookup fails with a transient error for a launcher while its machine does not list it or cannot be read', async () => {
      const unlisted = { metadata, status: { activePods: { 'u-2': 'node-1' } } };
      for (const instance of [unlisted, 503])
        expect(await rejectionOf(lookUpLauncher(instance).found)).to.include({ kind: 'transient' });
      expect(await rejectionOf(lookUpLauncher(403).found)).to.include({ kind: 'invalid' });
    });

    it('Pod lookup returns the Pod itself if its name is not one of KubeVirt’s', async () => {
      const { paths, found } = lookUpLauncher({ metadata }, 'mine');
      expect(await found).to.deep.equal({ name: 'mine', uid: 'u-1', podUid: 'u-1' });
      expect(paths).to.have.length(1);
    });
  });

  it('Pod lookup escapes names in the path of its request', async () => {
    const paths: string[] = [];
    const lookUpPod = createPodLookup((path) => {
      paths.push(path);
      return Promise.resolve({ metadata: { uid: 'u-1' } });
    });
    await lookUpPod({ podNamespace: 'a', podName: '../secrets/x?y' }, signal);
    expect(paths).to.deep.equal(['/api/v1/namespaces/a/pods/..%2Fsecrets%2Fx%3Fy']);
  });

  it('Pod lookup fails with Kube-OVN’s message when the Pod does not exist', async () => {
    const error = await rejectionOf(failing(404)(pod, signal));
    expect(error).to.include({ httpStatus: 500, message: 'get pod default/p failed pod "p" not found' });
    expect(error.kind).to.not.equal('transient');
  });

  it('Pod lookup fails with a transient error when the API is unavailable, and with another error when the API denies access', async () => {
    expect(await rejectionOf(failing(503)(pod, signal))).to.include({ kind: 'transient' });
    const broken = createPodLookup(() => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:1')));
    const error = await rejectionOf(broken(pod, signal));
    expect(error).to.include({ kind: 'transient' });
    expect(error.message).to.contain('get pod default/p failed').and.contain('ECONNREFUSED');
    const forbidden = await rejectionOf(failing(403)(pod, signal));
    expect(forbidden).to.include({ kind: 'invalid' });
    expect(forbidden.message).to.contain('get pod default/p failed: the agent lacks this permission');
  });
});
