/** Looks whether Kube-OVN's own controller runs on this cluster; lib/lease.ts judges what is seen. */
import { kubeOvnLease } from '../../../lib/kube-ovn.ts';
import { leaseJudge, type SeenLease, type Sight } from '../../../lib/lease.ts';
import { type Api, ApiError } from './api.ts';
import { read } from './patch.ts';

/** Looks each time it is called, and judges by what it saw before. It throws ApiError. */
export function kubeOvnObserver(api: Api): (signal: AbortSignal) => Promise<Sight> {
  const judge = leaseJudge();
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
