import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { decode, encode } from '../../../proto/codec.ts';
import type * as api from '../../../proto/generated/ipledger.ts';
import { parseEvent } from '../../../ledger/log/chain/chain.ts';
import { eventVersions } from '../../../ledger/domain/events/schema-version.ts';
import { eventMessage } from './messages.ts';

const golden = eventVersions.flatMap((version) =>
  readFileSync(join(import.meta.dirname, `../../../test/golden/events-v${version}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n'),
);

/** Converts an event to what a client receives. */
const received = (line: string): api.Event =>
  decode('Event', encode('Event', eventMessage(parseEvent(line)))) as api.Event;

/** The name of the field with the data of an event type. */
const fieldOf = (type: string): string => type.charAt(0).toLowerCase() + type.slice(1);

describe('eventMessage', () => {
  for (const line of golden) {
    const { envelope, hash, sequenced } = parseEvent(line);

    it(`eventMessage contains all fields of ${envelope.type} (event ${envelope.seq}, version ${envelope.v}), parsed and as stored`, () => {
      const event = received(line);
      const { seq, id, cmd: command, part, type, subnet, at, actor, prev } = envelope;
      expect(event).to.deep.include({
        seq,
        id,
        command,
        part: part[0],
        parts: part[1],
        type,
        subnet,
        at,
        actor,
        prev,
        hash,
      });
      expect(event.stored).to.equal(line);
      expect(Object.fromEntries(event.before.map(({ address, seq: last }) => [address, last]))).to.deep.equal(
        envelope.before,
      );
      const { cause, ...data } = sequenced.data as { cause?: string };
      const sent = (event as unknown as Record<string, { cause?: string }>)[fieldOf(type)];
      expect(sent).to.deep.include(data);
      if (cause !== undefined)
        expect(sent?.cause).to.match(new RegExp(`_CAUSE_${cause.toUpperCase().replaceAll('-', '_')}$`));
    });
  }
});
