/**
 * The rows about Pods: the pod-watcher with all other programs, beside the same requests of one
 * client.
 */
import type { BenchGroup } from '../../bench-row.ts';
import { createMeasurement } from '../../measurement.ts';
import { type Burst, measureBurst } from './pod-burst.ts';
import { openPodEnvironment } from './pod-environment.ts';

const bursts: Readonly<Record<'single' | 'wide', Readonly<Record<'smoke' | 'normal' | 'long', Burst>>>> = {
  single: {
    smoke: { pods: 5, networks: 1 },
    normal: { pods: 1_000, networks: 1 },
    long: { pods: 1_000, networks: 1 },
  },
  wide: {
    smoke: { pods: 1, networks: 16 },
    normal: { pods: 128, networks: 16 },
    long: { pods: 128, networks: 16 },
  },
};

export const podBurstRows: BenchGroup = {
  rows: ['burst-1000', 'release-1000', 'nics-16'],
  async measure({ run, rounds, rows, size, record }) {
    const environment = await openPodEnvironment(run, bursts.wide[size].networks);
    if (rows.has('burst-1000') || rows.has('release-1000')) {
      const { created, deleted } = await measureBurst(environment, bursts.single[size], rounds);
      const what = (from: string): string => `ms from the first ${from} of ${bursts.single[size].pods} Pods`;
      if (rows.has('burst-1000'))
        record(
          createMeasurement({
            name: 'burst-1000',
            what: `${what('creation')} to the last IP object`,
            ...created,
            goal: { atMost: 1.25 },
          }),
        );
      if (rows.has('release-1000'))
        record(
          createMeasurement({
            name: 'release-1000',
            what: `${what('deletion')} until no IP object is left`,
            ...deleted,
            goal: { atMost: 1.25 },
          }),
        );
    }
    if (rows.has('nics-16')) {
      const { pods, networks } = bursts.wide[size];
      const { created } = await measureBurst(environment, bursts.wide[size], rounds);
      const what = `ms until ${pods} Pods with ${networks} NICs have their IP objects`;
      record(createMeasurement({ name: 'nics-16', what, ...created, goal: { atMost: 1.4 } }));
    }
  },
};
