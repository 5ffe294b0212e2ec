import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeState } from '../domain/describe.ts';
import { parseEvent } from '../ledger/chain.ts';
import { applyCommand, beginning } from '../ledger/fold.ts';
import { endStateLines, parseEndState } from './end-state.ts';

const golden = readFileSync(join(import.meta.dirname, '../../../test/golden/events-v5.ndjson'), 'utf8');

describe('The state at the end of a segment', () => {
  it('is read back as it was, with the events that dropped claims', () => {
    const { state, head: first } = beginning();
    const events = golden.trimEnd().split('\n').map(parseEvent);
    const head = applyCommand({ state, head: first }, events);
    expect([...state.dropped.keys()]).to.deep.equal(['macvlan']);
    const read = parseEndState(endStateLines({ state, head }));
    expect(read.head).to.deep.equal(head);
    expect(describeState(read.state)).to.deep.equal(describeState(state));
  });
});
