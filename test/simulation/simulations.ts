/** All simulations. */
import { clusterSimulation } from './kubernetes/cluster-simulation.ts';
import { ledgerSimulation } from './ledger/ledger-simulation.ts';
import type { Simulation } from './plan.ts';

export const simulations: readonly Simulation[] = [ledgerSimulation, clusterSimulation];
