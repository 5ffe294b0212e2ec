/** Tests writes of a status, also for kinds without a status subresource. */
import { expect } from 'chai';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { Api, ApiRequest } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { EventRecorder } from '../kubernetes/event-recorder.ts';
import { type VipObject, vips } from '../kubernetes/objects/vip.ts';
import { objectAccess } from './object-access.ts';

const vip = { name: 'front', namespace: '' } as VipObject;
const { signal } = new AbortController();

describe('object-access', () => {
  /** Makes an API server that does not have some paths. */
  const serverWithout = (absent: RegExp) => {
    const written: [path: string, body: unknown][] = [];
    const api = {
      request: ({ path, body }: ApiRequest) => {
        if (absent.test(path)) return Promise.reject(new ApiError(404, '404 not found'));
        return Promise.resolve(void written.push([path, body]));
      },
    } as Api;
    return { written, access: objectAccess(api, {} as EventRecorder, 'Vip', vips) };
  };

  it('object-access writes a status with the object if the CustomResourceDefinition has no status subresource, as Kube-OVN’s has none', async () => {
    const { written, access } = serverWithout(/\/status$/);
    await access.writeStatus(vip, { ready: true }, signal);
    expect(written).to.deep.equal([['/apis/kubeovn.io/v1/vips/front', { status: { ready: true } }]]);
  });

  it('object-access writes a status to the subresource, and fails if the object does not exist', async () => {
    const { written, access } = serverWithout(/none/);
    await access.writeStatus(vip, { ready: true }, signal);
    expect(written).to.deep.equal([['/apis/kubeovn.io/v1/vips/front/status', { status: { ready: true } }]]);
    const error: unknown = await access
      .writeStatus({ ...vip, name: 'none' }, {}, signal)
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ApiError).with.property('status', 404);
  });
});
