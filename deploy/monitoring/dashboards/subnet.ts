/** The dashboard of Subnets: addresses by state, and refusals. */
import { type Dashboard, stat, timeseries } from './dashboard.ts';
import { rateBy } from './queries.ts';

const addresses = (state: string): string => `ipledger_addresses{subnet=~"$subnet",state="${state}"}`;

export const subnet: Dashboard = {
  name: 'subnet',
  title: 'ipledger / Subnet',
  description: 'Addresses of a Subnet by state, and what the allocators refuse.',
  variables: [{ name: 'subnet', metric: 'ipledger_addresses', label: 'subnet' }],
  rows: [
    [
      stat({
        title: 'Available',
        description: 'Available addresses. For dual stack, of the family with the fewest available.',
        queries: [{ expression: 'subnet_available_ip_count{subnet_name=~"$subnet"}', legend: '{{subnet_name}}' }],
      }),
      stat({
        title: 'In use',
        description: 'Addresses in use. For dual stack, of the family with the most in use.',
        queries: [{ expression: 'subnet_used_ip_count{subnet_name=~"$subnet"}', legend: '{{subnet_name}}' }],
      }),
      stat({
        title: 'Share in use',
        description: 'Addresses in use of all addresses that can be allocated.',
        unit: 'percentunit',
        queries: [
          {
            expression: `${addresses('in_use')} / ignoring(state) (${addresses('in_use')} + ignoring(state) ${addresses('available')})`,
            legend: '{{subnet}} {{family}}',
          },
        ],
      }),
    ],
    [
      timeseries({
        title: 'Available and in use',
        description: 'All addresses are either available or in use.',
        queries: [
          {
            expression: 'ipledger_addresses{subnet=~"$subnet",state=~"available|in_use"}',
            legend: '{{subnet}} {{family}} {{state}}',
          },
        ],
      }),
      timeseries({
        title: 'Cooldown and reserved',
        description:
          'Cooldown: available addresses that were used before or are quarantined. Reserved: addresses in use without a Pod.',
        queries: [
          {
            expression: 'ipledger_addresses{subnet=~"$subnet",state=~"cooldown|reserved"}',
            legend: '{{subnet}} {{family}} {{state}}',
          },
        ],
      }),
    ],
    [
      timeseries({
        title: 'Allocations and refusals in all Subnets',
        description: 'Calls of Allocate by result. ipledger why NAMESPACE/POD explains a refusal.',
        unit: 'ops',
        queries: [{ expression: rateBy('code', 'ipledger_calls_total{method="Allocate"}'), legend: '{{code}}' }],
      }),
      timeseries({
        title: 'Pods waiting in all Subnets',
        description: 'Pods without an address. Each has an Event with the reason.',
        queries: [{ expression: 'sum(ipledger_waiting_pods)', legend: 'Pods' }],
      }),
    ],
  ],
};
