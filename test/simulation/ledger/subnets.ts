/** The Subnets of the simulation: few addresses, so that Pods compete for each of them. */
export const cooldownMs = 1_500;
export const bindingTimeoutMs = 4_000;

const lan = ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6'];

export const subnets = {
  lan: { provider: 'lan.default', cidrs: ['10.0.0.0/29', '10.0.0.0/28'], gateway: '10.0.0.1', addresses: lan },
  /** The same addresses as `lan`, as a network of its own. */
  overlay: { provider: 'ovn', cidrs: ['10.0.0.0/29', '10.0.0.0/28'], gateway: '10.0.0.1', addresses: lan },
  dual: {
    provider: 'dual.default',
    cidrs: ['10.1.0.0/29,fd00::/120', '10.1.0.0/28,fd00::/120'],
    gateway: '10.1.0.1,fd00::1',
    addresses: ['10.1.0.2', '10.1.0.3', 'fd00::2'],
  },
  /** Beside `lan`, on its network. */
  lan2: {
    provider: 'lan.default',
    cidrs: ['10.0.0.16/29', '10.0.0.8/29'],
    gateway: '',
    addresses: ['10.0.0.18', '10.0.0.19'],
  },
} as const;

export type SubnetName = keyof typeof subnets;
export const subnetNames = Object.keys(subnets) as SubnetName[];

export const pools = { blue: { subnet: 'lan', ips: ['10.0.0.5..10.0.0.6'], namespaces: [] } } as const;
