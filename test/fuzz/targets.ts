/** All targets, part by part. */
import type { FuzzTarget } from './fuzz-target.ts';
import { agentTargets } from './targets/agent.ts';
import { kubernetesTargets } from './targets/kubernetes.ts';
import { ledgerTargets } from './targets/ledger.ts';
import { networkTargets } from './targets/network.ts';
import { rpcTargets } from './targets/rpc.ts';

export const fuzzTargets: readonly FuzzTarget[] = [
  ...agentTargets,
  ...kubernetesTargets,
  ...ledgerTargets,
  ...rpcTargets,
  ...networkTargets,
];
