import { expect } from 'chai';
import { parse } from 'yaml';
import type { Event } from '../proto/ipledger.ts';
import { eventColumns } from './event.ts';
import { eventList } from './event-list.ts';
import type { OutputFormat } from './output.ts';
import { at, life, position } from './specification.ts';

const events = life as Event[];

/** What is written of these, found in so many pages. */
function written(output: OutputFormat, ...pages: readonly (readonly Event[])[]): string {
  const { next, end } = eventList({ output, zone: 'utc' }, eventColumns);
  return [...pages.map(next), end({ position, more: false })].join('');
}

describe('A list of events that is written as they are found', () => {
  const whole = (of: readonly Event[]) => ({ events: of, position, more: false });

  it('is one document of JSON, laid out as any other: of none, of one and of many', () => {
    expect(written('json', events.slice(0, 2), [], events.slice(2))).to.equal(
      `${JSON.stringify(whole(events), null, 2)}\n`,
    );
    expect(written('json', events.slice(0, 1))).to.equal(`${JSON.stringify(whole(events.slice(0, 1)), null, 2)}\n`);
    for (const pages of [[], [[], []]])
      expect(written('json', ...pages)).to.equal(`${JSON.stringify(whole([]), null, 2)}\n`);
  });

  it('is one document of YAML, the same for a reader of YAML 1.1', () => {
    const addressQuarantined = { seenMac: '52:54:00:12:34:56', seenAt: 'on', reason: 'one\n# two: "three"' };
    const seen = { ...events[0], type: 'AddressQuarantined', at: at(3), addressQuarantined } as Event;
    for (const version of ['1.1', '1.2'] as const) {
      expect(parse(written('yaml', events.slice(0, 2), [seen]), { version })).to.deep.equal(
        whole([...events.slice(0, 2), seen]),
      );
      expect(parse(written('yaml'), { version })).to.deep.equal(whole([]));
    }
  });

  it('has its head in CSV also where there is nothing, and once only', () => {
    expect(written('csv')).to.equal('seq,time,event,address,pod,detail,subnet,uid,provider,actor,command\r\n');
    const rows = written('csv', events.slice(0, 2), [], events.slice(2)).split('\r\n');
    expect(rows.map((row) => row.split(',')[0])).to.deep.equal(['seq', '40', '31', '30', '7', '5', '']);
  });
});
