/** A plan of a selftest on one node, in a network that exists. */
import type { TestPlan } from '../test-objects.ts';

export const plan: TestPlan = {
  id: '1a2b',
  nodes: ['n'],
  image: 'box',
  network: 'a/b',
  isDefaultNetwork: false,
  group: 'kubeovn.io',
};
