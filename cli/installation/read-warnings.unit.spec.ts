import { expect } from 'chai';
import { readWarnings } from './read-warnings.ts';

const eventOf = (name: string, reason: string, at: object, message = reason) => ({
  involvedObject: { kind: 'Pod', name },
  type: 'Warning',
  reason,
  message,
  ...at,
});

describe('Warnings of an installation', () => {
  it('Warnings of an installation are the newest Event of each object and reason, of the namespace of ipledger only', async () => {
    const paths: string[] = [];
    const items = [
      eventOf('a', 'BackOff', { lastTimestamp: '2026-01-31T07:00:00Z' }, 'new'),
      eventOf('a', 'BackOff', { lastTimestamp: '2026-01-31T06:00:00Z' }, 'old'),
      eventOf('a', 'FailedMount', { series: { lastObservedTime: '2026-01-31T05:00:00.000000Z' } }),
      eventOf('b', 'Unhealthy', { eventTime: '2026-01-31T04:00:00.000000Z', lastTimestamp: null }),
    ];
    const list = (path: string) => {
      paths.push(path);
      return Promise.resolve(items);
    };
    const found = await readWarnings({ list }, 'net');
    expect(paths).to.deep.equal(['/api/v1/namespaces/net/events?fieldSelector=type%3DWarning']);
    expect(found.map(({ name, reason, message, at }) => `${at} ${name} ${reason} ${message}`)).to.deep.equal([
      '2026-01-31T07:00:00Z a BackOff new',
      '2026-01-31T05:00:00.000000Z a FailedMount FailedMount',
      '2026-01-31T04:00:00.000000Z b Unhealthy Unhealthy',
    ]);
  });

  it('Warnings of an installation are limited to the newest', async () => {
    const items = Array.from({ length: 2_000 }, (_, index) =>
      eventOf(`p-${index}`, 'BackOff', { lastTimestamp: new Date(index * 1_000).toISOString() }, 'x'.repeat(2_000)),
    );
    const found = await readWarnings({ list: () => Promise.resolve(items) }, 'net');
    expect(found).to.have.length(500);
    expect(found[0]?.name).to.equal('p-1999');
    expect(found[0]?.message.length).to.be.lessThan(600);
  });
});
