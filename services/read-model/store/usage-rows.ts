/** The number of addresses in use, by Subnet, family and hour. */
import type { DatabaseSync } from 'node:sqlite';

export const hourMs = 3_600_000;

interface Growth {
  readonly subnet: number;
  readonly family: 4 | 6;
  readonly at: number;
  readonly growth: number;
}

interface Series {
  readonly subnet: number;
  readonly family: 4 | 6;
  inUse: number;
  /** The hours that the transaction changed, with the last number in each. */
  readonly changed: Map<number, number>;
}

export function usageRows(database: DatabaseSync) {
  const latest = database.prepare(
    'SELECT in_use FROM usage WHERE subnet = ? AND family = ? ORDER BY hour DESC LIMIT 1',
  );
  const put = database.prepare('INSERT OR REPLACE INTO usage (subnet, family, hour, in_use) VALUES (?, ?, ?, ?)');
  const series = new Map<string, Series>();
  const seriesOf = ({ subnet, family }: Growth): Series => {
    const key = `${subnet} ${family}`;
    const known = series.get(key);
    if (known) return known;
    const inUse = Number(latest.get(subnet, family)?.['in_use'] ?? 0);
    const added = { subnet, family, inUse, changed: new Map<number, number>() };
    series.set(key, added);
    return added;
  };
  return {
    add: (growth: Growth): void => {
      const found = seriesOf(growth);
      found.inUse += growth.growth;
      found.changed.set(Math.floor(growth.at / hourMs), found.inUse);
    },
    write: (): void => {
      for (const { subnet, family, changed } of series.values()) {
        for (const [hour, inUse] of changed) put.run(subnet, family, hour, inUse);
        changed.clear();
      }
    },
    forget: () => series.clear(),
  };
}
