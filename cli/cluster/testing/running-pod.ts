/** A Pod of namespace default that runs, for specs. */
import type { Pod } from '../cluster-state.ts';

export const runningPod = (name: string, annotations: Readonly<Record<string, string>>): Pod => ({
  namespace: 'default',
  name,
  identity: `uid-${name}`,
  hostNetwork: false,
  restartPolicy: 'Always',
  phase: 'Running',
  reason: '',
  isTerminating: false,
  graceSeconds: 30,
  annotations,
  node: 'node-1',
  owner: undefined,
});
