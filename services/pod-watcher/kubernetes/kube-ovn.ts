/** Looks whether Kube-OVN's own controller runs on this cluster; lib/kube-ovn.ts judges what is seen. */
import { kubeOvnJudge, kubeOvnLease, type SeenLease, type Sight } from '../../../lib/kube-ovn.ts';
import { type Api, ApiError } from './api.ts';
import { read } from './patch.ts';

/** Looks each time it is called, and judges by what it saw before. It throws ApiError. */
export function kubeOvnObserver(api: Api): (signal: AbortSignal) => Promise<Sight> {
  const judge = kubeOvnJudge();
  return async (signal) => judge(await readLease(api, signal));
}

async function readLease(api: Api, signal: AbortSignal): Promise<SeenLease | undefined> {
  try {
    return (await read(api, kubeOvnLease, signal)) as SeenLease;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
