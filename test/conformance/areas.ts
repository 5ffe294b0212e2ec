/** All areas of cases, with the forms of their cases. */
import { allocationAreas, macForms } from './areas/allocation.ts';
import { networksForms, podForms, webhookForms } from './areas/annotations.ts';
import type { Area } from './areas/area.ts';
import { arithmeticAreas } from './areas/arithmetic.ts';
import { daemonAreas, resultForms } from './areas/daemon.ts';
import { documentAreas } from './areas/documents.ts';
import { ipAreas } from './areas/ips.ts';
import { lifecycleAreas } from './areas/lifecycle.ts';
import { nameAreas } from './areas/naming.ts';
import { pluginAreas, renderForms } from './areas/plugin.ts';
import { podActingForms } from './areas/pods.ts';
import { recoveryAreas } from './areas/recovery.ts';
import { subnetAreas } from './areas/subnets.ts';

export const areas: readonly Area[] = [
  ...allocationAreas,
  ...arithmeticAreas,
  ...nameAreas,
  ...pluginAreas,
  ...daemonAreas,
  ...documentAreas,
  ...ipAreas,
  ...lifecycleAreas,
  ...recoveryAreas,
  ...subnetAreas,
  { name: 'cni-result', lane: 'cluster', forms: [...renderForms, ...resultForms] },
  { name: 'webhook', lane: 'memory', forms: webhookForms },
  { name: 'allocate', lane: 'cluster', forms: podActingForms },
  { name: 'ip_pool-annotation', lane: 'cluster', forms: podActingForms },
  { name: 'mac', lane: 'cluster', forms: [...macForms, ...podActingForms] },
  { name: 'nad', lane: 'cluster', forms: podActingForms },
  { name: 'networks-annotation', lane: 'cluster', forms: [...networksForms, ...podActingForms] },
  { name: 'pod-annotation', lane: 'memory', forms: podForms },
  { name: 'subnet-select', lane: 'cluster', forms: podActingForms },
];
