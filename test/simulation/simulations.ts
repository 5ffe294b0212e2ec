/** All simulations. */
import { ledgerSimulation } from './ledger/ledger-simulation.ts';
import type { Simulation } from './plan.ts';

export const simulations: readonly Simulation[] = [ledgerSimulation];
