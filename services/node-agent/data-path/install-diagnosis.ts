/** Why OVN has not connected a port in time, and what to do. Pure. */

/** What the southbound database has about a port and this node's chassis. */
export interface SouthboundFacts {
  /** Whether the database has the logical port. */
  readonly hasPort: boolean;
  /** `options:requested-chassis` of the port; '' if it is not set. */
  readonly requestedChassis: string;
  /** Name of the chassis that has the port; '' for none. */
  readonly chassis: string;
  /** Name of this node's chassis. undefined: there is none. */
  readonly ownChassis: string | undefined;
}

export interface InstallFacts {
  readonly node: string;
  readonly logicalPort: string;
  readonly hostLink: string;
  /** Error of the Interface row; '' for none. */
  readonly interfaceError: string;
  readonly isInstalled: boolean;
  /** The localnet patch port that is missing; undefined if none is. */
  readonly missingPatch: string | undefined;
  /** Absent with the reason why the southbound database could not be read. */
  readonly southbound: SouthboundFacts | { readonly unreadable: string };
}

/** One sentence about the cause, and a command. */
export function diagnoseInstall(facts: InstallFacts): string {
  const { node, logicalPort, hostLink, interfaceError, southbound } = facts;
  if (interfaceError !== '')
    return `OVS cannot use ${hostLink}: ${interfaceError}. Run: ovs-vsctl get interface ${hostLink} error`;
  if (facts.isInstalled && facts.missingPatch !== undefined)
    return `the port is installed, but ${facts.missingPatch} is missing: map the physical network to a bridge. Run: ovs-vsctl get open_vswitch . external_ids:ovn-bridge-mappings`;
  if ('unreadable' in southbound)
    return `OVN did not install it, and the southbound database could not be read (${southbound.unreadable}). Run: ovn-appctl -t ovn-controller connection-status; ovn-sbctl find port_binding logical_port=${logicalPort}`;
  if (southbound.ownChassis === undefined)
    return `OVN has no chassis row for node ${node}: start ovn-controller. Run: ovn-appctl -t ovn-controller connection-status`;
  if (!southbound.hasPort)
    return `OVN has no logical port ${logicalPort}: read the logs of ovn-projector and ovn-northd. Run: ovn-nbctl lsp-get-options ${logicalPort}`;
  const requested = southbound.requestedChassis.split(',');
  if (southbound.requestedChassis !== '' && !requested.includes(node) && !requested.includes(southbound.ownChassis))
    return `its requested-chassis is ${southbound.requestedChassis}, not ${node}: the Pod is bound on another node. Run: kubectl ipledger why`;
  if (southbound.chassis === southbound.ownChassis)
    return `ovn-controller has claimed the port, and has not installed its flows: read its log. Run: ovn-appctl -t ovn-controller connection-status`;
  return `ovn-controller has not claimed the port: check that it runs and is connected. Run: ovn-appctl -t ovn-controller connection-status`;
}
