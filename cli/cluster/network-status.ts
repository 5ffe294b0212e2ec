/** Parses `k8s.v1.cni.cncf.io/network-status`, in which Multus shows the NICs of a Pod. Pure. */
import { canonicalAddress, canonicalMac } from '../../ledger/domain/addresses/address.ts';
import { asRecord, asText, asTexts, tryParseJson } from '../../lib/kubernetes/untyped-json.ts';
import type { Pod } from './cluster-state.ts';

/** The keys of the annotation. Multus before 3.3 wrote the second key. */
const keys = ['k8s.v1.cni.cncf.io/network-status', 'k8s.v1.cni.cncf.io/networks-status'];
/** A Pod has few NICs. The rest of a longer list is ignored. */
const maxNics = 256;

/** A NIC that the Pod has. */
export interface NicStatus {
  /** "namespace/name" of the NetworkAttachmentDefinition. Default: the Pod's namespace. */
  readonly network: string;
  readonly interface: string;
  /** Addresses in canonical form. */
  readonly addresses: readonly string[];
  /** The MAC; "" if unknown. */
  readonly mac: string;
}

/** Returns [] without the annotation, or if it is invalid. */
export function parseNetworkStatus({ namespace, annotations }: Pod): NicStatus[] {
  const value = keys.map((key) => annotations[key] ?? '').find((each) => each !== '') ?? '';
  const nics = tryParseJson(value);
  if (!Array.isArray(nics)) return [];
  return nics.slice(0, maxNics).map((nic) => {
    const { name: nameValue, interface: interfaceName, ips, mac } = asRecord(nic);
    const name = asText(nameValue);
    return {
      network: name === '' || name.includes('/') ? name : `${namespace}/${name}`,
      interface: asText(interfaceName),
      addresses: asTexts(ips).flatMap((each) => canonicalAddress(each) ?? []),
      mac: canonicalMac(asText(mac)) ?? '',
    };
  });
}
