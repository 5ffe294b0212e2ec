/** A cluster without objects, to which a spec adds those that it is about. */
import type { ClusterSnapshot } from '../cluster-snapshot.ts';

export const emptyCluster: ClusterSnapshot = {
  subnets: [],
  pools: [],
  ips: [],
  vips: [],
  pods: [],
  statefulSets: new Map(),
  machines: new Set(),
  besideKubeOvn: false,
  networks: new Map(),
};
