import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeState } from '../domain/testing/describe-state.ts';
import { eventVersions } from '../domain/events/schema-version.ts';
import { parseEvent } from '../log/chain/chain.ts';
import { applyCommand, initialStateAtHead } from '../log/reader/fold.ts';
import { endStateLines, parseEndState } from './end-state.ts';

const goldenOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../test/golden', `${name}.ndjson`), 'utf8');
const version = `v${eventVersions.at(-1)}`;
const events = goldenOf(`events-${version}`).trimEnd().split('\n').map(parseEvent);

describe('The end state of a segment', () => {
  it('the end state is restored from its lines, with the events that dropped claims', async () => {
    const { state, head: first } = initialStateAtHead();
    const head = applyCommand({ state, head: first }, events);
    expect([...state.dropped.keys()]).to.deep.equal(['macvlan']);
    const lines = [...endStateLines({ state, head })];
    // The parts arrive one by one, as they are unpacked.
    async function* parts() {
      for (const line of lines) yield [line];
    }
    const read = await parseEndState(parts());
    expect(read.head).to.deep.equal(head);
    expect(describeState(read.state)).to.deep.equal(describeState(state));
  });

  it('the keys beside the log have the names and values that the replicas of a release write and read', () => {
    const { state, head: first } = initialStateAtHead();
    const head = applyCommand({ state, head: first }, events);
    expect([...endStateLines({ state, head })]).to.deep.equal(goldenOf(`keys-${version}`).trimEnd().split('\n'));
  });

  for (const text of [
    '',
    '{}',
    '{"key":"/ipledger/head"}',
    '{"key":1,"value":{}}',
    '{"key":"/ipledger/head","value":{}',
  ])
    it(`The end state of a segment is rejected with the line ${JSON.stringify(text)}`, async () => {
      async function* parts() {
        yield [text];
      }
      const failure = await parseEndState(parts()).catch((error: unknown) => error);
      expect(failure).to.be.an('error');
    });
});
