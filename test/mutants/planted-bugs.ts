/** All planted bugs, part by part. */
import { agentBugs } from './bugs/agent.ts';
import { bindingBugs } from './bugs/bindings.ts';
import { domainBugs } from './bugs/domain.ts';
import { historyBugs } from './bugs/histories.ts';
import { logBugs } from './bugs/log.ts';
import { watcherBugs } from './bugs/watcher.ts';
import type { PlantedBug } from './planted-bug.ts';

export const plantedBugs: readonly PlantedBug[] = [
  ...domainBugs,
  ...bindingBugs,
  ...logBugs,
  ...watcherBugs,
  ...agentBugs,
  ...historyBugs,
];
