import { expect } from 'chai';
import { afterAWhile } from './ledger/specification.ts';
import type { Follower } from './ledger/follower.ts';
import type { Writer } from './ledger/writer.ts';
import { isFit, keepHealth } from './health.ts';
import type { Office } from './office.ts';

const writing: Office = { writer: {} as Writer, follower: undefined };
const standing = (behindMs: number): Office => ({ writer: undefined, follower: { behindMs } as Follower });
const between: Office = { writer: undefined, follower: undefined };

describe('A replica', () => {
  it('is fit as the writer, and as a standby that follows and knows the writer, through a takeover, too', () => {
    expect(isFit(writing, Infinity)).to.be.true;
    expect(isFit(standing(1_000), 0)).to.be.true;
    expect(isFit(standing(1_000), 7_000)).to.be.true;
  });

  it('is not fit as a standby that cannot follow, or has had no writer for longer than a takeover takes', () => {
    expect(isFit(standing(6_000), 0)).to.be.false;
    expect(isFit(standing(0), 11_000)).to.be.false;
    expect(isFit(standing(0), Infinity), 'since it was started').to.be.false;
  });

  it('says so, and whether it is the writer, as long as it lives; on its way from one to the other it is what it was', async () => {
    let office = standing(0);
    const said = new Map<string, string>();
    const stopping = new AbortController();
    const view: Office = {
      get writer() {
        return office.writer;
      },
      get follower() {
        return office.follower;
      },
    };
    const set = (service: string, status: string): void => void said.set(service, status);
    const kept = keepHealth({ office: view, writerlessMs: () => 0, set }, stopping.signal);
    const becomes = async (next: Office, whole: string, writer: string): Promise<void> => {
      office = next;
      while (said.get('') !== whole || said.get('writer') !== writer) await afterAWhile();
    };
    await becomes(standing(0), 'SERVING', 'NOT_SERVING');
    await becomes(writing, 'SERVING', 'SERVING');
    await becomes(between, 'SERVING', 'NOT_SERVING');
    await becomes(standing(9_000), 'NOT_SERVING', 'NOT_SERVING');
    stopping.abort();
    await kept;
  });
});
