/** The attributes that name a Pod, with OpenTelemetry's keys. */
import type { Attributes } from './span.ts';

export const podAttributes = (pod: {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}): Attributes => ({ 'k8s.namespace.name': pod.namespace, 'k8s.pod.name': pod.name, 'k8s.pod.uid': pod.uid });

/** The attributes that show addresses of the ledger. */
export const allocationAttributes = (
  allocations: readonly { readonly subnet: string; readonly addresses: readonly unknown[]; readonly seq: number }[],
): Attributes => ({
  'ipledger.subnet': allocations.map(({ subnet }) => subnet).join(','),
  'ipledger.addresses': allocations.reduce((sum, { addresses }) => sum + addresses.length, 0),
  'ipledger.seq': Math.max(0, ...allocations.map(({ seq }) => seq)),
});
