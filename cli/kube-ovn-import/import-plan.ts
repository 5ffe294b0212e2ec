/** Plans what an import takes over from Kube-OVN. Pure. */
import type { PlannedQuarantine } from './conflict.ts';
import { type ObservedAttachment, findObservedAttachments } from './observed-attachments.ts';
import type {
  KubeOvnIp,
  KubeOvnPool,
  KubeOvnSubnet,
  KubeOvnVip,
  ClusterSnapshot,
} from '../cluster/cluster-snapshot.ts';

/** A reserved IP object or a Vip. */
export interface PlannedReservation {
  readonly object: KubeOvnIp | KubeOvnVip;
  readonly reservedFor: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

export interface ImportPlan {
  readonly subnets: readonly KubeOvnSubnet[];
  readonly pools: readonly KubeOvnPool[];
  readonly reservations: readonly PlannedReservation[];
  readonly attachments: readonly ObservedAttachment[];
  /** IP objects whose Pod does not exist. The import deletes them, as Kube-OVN's garbage collection does. */
  readonly leftovers: readonly KubeOvnIp[];
  /** IP objects without a Pod name, of Nodes and gateways. The import ignores them. */
  readonly foreign: readonly KubeOvnIp[];
  /** Addresses of conflicts. */
  readonly quarantines: readonly PlannedQuarantine[];
}

export function planImport(snapshot: ClusterSnapshot): ImportPlan {
  const attachments = findObservedAttachments(snapshot);
  const reservations = planReservations(snapshot);
  const imported = new Set([
    ...attachments.map(({ ipObject }) => ipObject),
    ...reservations.map(({ object }) => object),
  ]);
  const others = snapshot.ips.filter((ip) => !ip.isOurs && !imported.has(ip));
  const isForeign = ({ pod, namespace }: KubeOvnIp): boolean => pod === '' || namespace === '';
  const foreign = others.filter(isForeign);
  const leftovers = others.filter((ip) => !isForeign(ip));
  const { subnets, pools } = snapshot;
  return { subnets, pools, reservations, attachments, leftovers, foreign, quarantines: [] };
}

/** Reserved IP objects and Vips, with the owner names that the pod-watcher uses. */
function planReservations({ ips, vips, subnets }: ClusterSnapshot): PlannedReservation[] {
  const providers = new Map(subnets.map(({ name, spec }) => [name, spec.provider]));
  const providerOf = (name: string): string => providers.get(name) || 'ovn';
  const reservedIps = ips.filter(({ isReserved, addresses }) => isReserved && addresses.length > 0);
  return [
    ...reservedIps.map((object) => {
      const { namespace, pod, subnet, addresses, mac } = object;
      return { object, reservedFor: `pod/${namespace}/${pod}/${providerOf(subnet)}`, subnet, addresses, mac };
    }),
    ...vips
      .filter(({ addresses }) => addresses.length > 0)
      .map((object) => {
        const { name, subnet, addresses, mac } = object;
        return { object, reservedFor: `vip/${name}`, subnet, addresses, mac };
      }),
  ];
}
