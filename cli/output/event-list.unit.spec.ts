import { expect } from 'chai';
import { parse } from 'yaml';
import type { Event } from '../../proto/generated/ipledger.ts';
import { eventColumns } from './event-rows.ts';
import { createEventListWriter } from '../verbs/history.ts';
import type { OutputFormat } from './answer.ts';
import { at, addressEvents, position } from '../testing/address-events.fixture.ts';

const events = addressEvents as Event[];

/** The output for these pages. */
async function writePages(output: OutputFormat, ...pages: readonly (readonly Event[])[]): Promise<string> {
  const { next, end } = await createEventListWriter({ output, zone: 'utc' }, eventColumns);
  return [...pages.map(next), end({ position, more: false })].join('');
}

describe('The event list', () => {
  const documentOf = (list: readonly Event[]) => ({ events: list, position, more: false });

  it('The event list is one JSON document, for any number of events', async () => {
    expect(await writePages('json', events.slice(0, 2), [], events.slice(2))).to.equal(
      `${JSON.stringify(documentOf(events), null, 2)}\n`,
    );
    expect(await writePages('json', events.slice(0, 1))).to.equal(
      `${JSON.stringify(documentOf(events.slice(0, 1)), null, 2)}\n`,
    );
    for (const pages of [[], [[], []]])
      expect(await writePages('json', ...pages)).to.equal(`${JSON.stringify(documentOf([]), null, 2)}\n`);
  });

  it('The event list is one YAML document, which YAML 1.1 readers parse alike', async () => {
    const addressQuarantined = { seenMac: '52:54:00:12:34:56', seenAt: 'on', reason: 'one\n# two: "three"' };
    const seen = { ...events[0], type: 'AddressQuarantined', at: at(3), addressQuarantined } as Event;
    for (const version of ['1.1', '1.2'] as const) {
      expect(parse(await writePages('yaml', events.slice(0, 2), [seen]), { version })).to.deep.equal(
        documentOf([...events.slice(0, 2), seen]),
      );
      expect(parse(await writePages('yaml'), { version })).to.deep.equal(documentOf([]));
    }
  });

  it('The event list has one CSV header, also without events', async () => {
    expect(await writePages('csv')).to.equal('seq,time,event,address,pod,detail,subnet,uid,provider,actor,command\r\n');
    const rows = (await writePages('csv', events.slice(0, 2), [], events.slice(2))).split('\r\n');
    expect(rows.map((row) => row.split(',')[0])).to.deep.equal(['seq', '40', '31', '30', '7', '5', '']);
  });
});
