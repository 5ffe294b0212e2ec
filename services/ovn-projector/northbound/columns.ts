/** The columns of the northbound database that the projector copies (ovn-nb(5)). */
import type { MonitoredColumns } from '../../../lib/ovsdb/replica.ts';

export const northboundDatabase = 'OVN_Northbound';

export const northboundColumns: MonitoredColumns = {
  NB_Global: ['external_ids'],
  Logical_Switch: ['name', 'ports', 'external_ids'],
  Logical_Router: ['name', 'ports', 'external_ids'],
  Logical_Switch_Port: [
    'name',
    'type',
    'addresses',
    'port_security',
    'options',
    'tag',
    'up',
    'external_ids',
    'dhcpv4_options',
    'dhcpv6_options',
  ],
  Logical_Router_Port: ['name', 'mac', 'networks', 'ipv6_ra_configs', 'external_ids'],
  DHCP_Options: ['cidr', 'options', 'external_ids'],
};
