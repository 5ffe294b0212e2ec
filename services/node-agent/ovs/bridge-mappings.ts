/** `ovn-bridge-mappings`: the bridges of this node on which OVN finds physical networks. */

/** The bridge on which OVN finds a network. */
export interface BridgeMapping {
  readonly network: string;
  readonly bridge: string;
}

/** The key of Open_vSwitch.external_ids that holds the mappings (ovn-controller(8)). */
export const mappingsKey = 'ovn-bridge-mappings';

/** Parses `network:bridge,…`. What has another form stays as a mapping without a bridge. */
export function parseMappings(text: string): BridgeMapping[] {
  return text
    .split(',')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const at = entry.indexOf(':');
      return at < 0 ? { network: entry, bridge: '' } : { network: entry.slice(0, at), bridge: entry.slice(at + 1) };
    });
}

/** The inverse of `parseMappings`. */
export const formatMappings = (mappings: readonly BridgeMapping[]): string =>
  mappings.map(({ network, bridge }) => (bridge === '' ? network : `${network}:${bridge}`)).join(',');
