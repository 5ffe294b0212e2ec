/** Cases for the alerts of OVN networks. */
import { type AlertCase, steady } from './alert-case.ts';

export const ovnAlertCases: readonly AlertCase[] = [
  {
    alert: 'IpledgerOvnNoActiveProjector',
    when: 'all projectors are standbys',
    series: [{ series: 'ipledger_ovn_projector_active{instance="a"}', before: 1, after: 0 }],
    labels: {},
    summary: '0 OVN projectors are active, instead of one.',
  },
  {
    alert: 'IpledgerOvnNoActiveProjector',
    when: 'no projector is scraped any more',
    series: [
      { series: 'ipledger_ovn_projector_active{instance="a"}', before: 1, after: 'stale' },
      { series: 'ipledger_ovn_projector_active{instance="b"}', before: 0, after: 'stale' },
    ],
    labels: {},
    summary: '0 OVN projectors are active, instead of one.',
  },
  {
    alert: 'IpledgerOvnNorthboundUnreachable',
    when: 'the active projector loses its connection',
    series: [{ series: 'ipledger_ovn_northbound_connected{instance="a"}', before: 1, after: 0 }],
    labels: { instance: 'a' },
    summary: 'The OVN projector has no connection to the northbound database.',
  },
  {
    alert: 'IpledgerOvnPortsDown',
    when: 'a port with a container is not up',
    series: [
      { series: 'ipledger_ovn_ports{instance="a",state="down"}', before: 0, after: 1 },
      steady('ipledger_ovn_ports{instance="a",state="present"}', 7),
    ],
    labels: { instance: 'a', state: 'down' },
    summary: '1 logical ports are not up, although containers have them.',
  },
  {
    alert: 'IpledgerOvnProjectionBehind',
    when: 'the projector does not process an event',
    series: [
      { series: 'ipledger_head_seq{instance="a"}', before: 100, after: 101 },
      steady('ipledger_ovn_applied_seq{instance="b"}', 100),
    ],
    labels: {},
    summary: 'The OVN projector has not processed the last 1 events of the ledger.',
    delayMinutes: 1,
  },
  {
    alert: 'IpledgerOvnConflict',
    when: 'another program has a row with a name of ipledger',
    series: [{ series: 'ipledger_ovn_conflicts{instance="a"}', before: 0, after: 1 }],
    labels: { instance: 'a' },
    summary: '1 rows of other programs in OVN have names of ipledger.',
  },
  {
    alert: 'IpledgerProviderNetworkRefused',
    when: 'a NIC cannot be used',
    series: [
      { series: 'ipledger_provider_networks{node="node-1",state="refused"}', before: 0, after: 1 },
      steady('ipledger_provider_networks{node="node-1",state="served"}', 2),
    ],
    labels: { node: 'node-1', state: 'refused' },
    summary: 'Node node-1 cannot serve 1 ProviderNetworks.',
  },
];
