import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { Sessions } from './sessions.ts';

const minute = 60_000;

/** Sessions whose clock and reviews the test controls. A token is the name of its user. */
function controlled() {
  const state = { now: Date.UTC(2026, 0, 1), reviews: 0, closed: 0, failure: undefined as IpledgerError | undefined };
  const users: string[] = [];
  const sessions = new Sessions({
    connect: (token) => {
      users.push(token);
      return { ...fakeLedgerClient({}), close: () => void state.closed++ };
    },
    verify: async () => {
      state.reviews++;
      if (state.failure) throw state.failure;
      return users.at(-1)?.split('.')[0] ?? '';
    },
    now: () => state.now,
  });
  return { state, sessions };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return '';
  } catch (error) {
    return (error as IpledgerError).code;
  }
}

const tokenUntil = (user: string, at: number): string =>
  `${user}.${Buffer.from(JSON.stringify({ exp: at / 1_000 })).toString('base64url')}.x`;

describe('Sessions', () => {
  it('The session store finds a session by its id only', async () => {
    const { sessions } = controlled();
    const { id, session } = await sessions.create('alice');
    expect(await sessions.find(id)).to.equal(session);
    for (const other of ['', `${id}x`, id.slice(1)])
      expect(await codeOf(sessions.find(other))).to.equal('UNAUTHENTICATED');
  });

  it('The session store keeps no session, and no connection, for a token that is rejected or has expired', async () => {
    const { sessions, state } = controlled();
    expect(await codeOf(sessions.create(tokenUntil('alice', state.now)))).to.equal('UNAUTHENTICATED');
    expect(state.reviews).to.equal(0);
    state.failure = new IpledgerError('PERMISSION_DENIED', 'no rule');
    expect(await codeOf(sessions.create('alice'))).to.equal('PERMISSION_DENIED');
    expect([sessions.size, state.closed]).to.deep.equal([0, 1]);
  });

  it('The session store ends a session with its token, after an hour without a request, and after eight hours', async () => {
    const { sessions, state } = controlled();
    const start = state.now;
    const short = await sessions.create(tokenUntil('alice', start + 10 * minute));
    const idle = await sessions.create('alice');
    const busy = await sessions.create('alice');
    const reaches = async (id: string, at: number): Promise<boolean> => {
      state.now = start + at;
      return (await codeOf(sessions.find(id))) === '';
    };
    expect(await reaches(short.id, 10 * minute - 1)).to.equal(true);
    expect(await reaches(short.id, 10 * minute)).to.equal(false);
    expect(short.session.signal.aborted).to.equal(true);
    for (let at = 30 * minute; at < 480 * minute; at += 30 * minute) expect(await reaches(busy.id, at)).to.equal(true);
    expect(await reaches(idle.id, 450 * minute)).to.equal(false);
    expect(await reaches(busy.id, 480 * minute)).to.equal(false);
    expect([sessions.size, state.closed]).to.deep.equal([0, 3]);
  });

  it('The session store does not count an open stream as use', async () => {
    const { sessions, state } = controlled();
    const { id } = await sessions.create('alice');
    state.now += 59 * minute;
    await sessions.verify(id);
    state.now += 2 * minute;
    expect(await codeOf(sessions.verify(id))).to.equal('UNAUTHENTICATED');
    expect(sessions.size).to.equal(0);
  });

  it('The session store limits the requests in progress of each person, in all sessions together', async () => {
    const { sessions } = controlled();
    const signal = new AbortController().signal;
    const never = (): Promise<never> => new Promise(() => undefined);
    const [first, second] = [await sessions.create('alice'), await sessions.create('alice')];
    const rejected = Array.from({ length: 19 }, (_, index) =>
      (index % 2 ? first : second).session.person
        .limited(signal, never)
        .catch((error: unknown) => IpledgerError.from(error).code),
    );
    expect(await Promise.race(rejected)).to.equal('OVERLOADED');
    const { session } = await sessions.create('bob');
    expect(await session.person.limited(signal, async () => 'served')).to.equal('served');
  });

  it('The session store keeps the limits of a person after the sign-out', async () => {
    const { sessions } = controlled();
    const first = await sessions.create('alice');
    sessions.end(first.id);
    const { session } = await sessions.create('alice');
    expect(session.person).to.equal(first.session.person);
    expect((await sessions.create('bob')).session.person).to.not.equal(session.person);
  });

  it('The session store verifies a person again once a minute, and ends the session when the allocator rejects the token', async () => {
    const { sessions, state } = controlled();
    const { id, session } = await sessions.create('alice');
    await Promise.all([sessions.find(id), sessions.find(id)]);
    expect(state.reviews).to.equal(1);
    state.now += minute;
    await Promise.all([sessions.find(id), sessions.find(id), sessions.find(id)]);
    expect(state.reviews).to.equal(2);
    state.now += minute;
    state.failure = new IpledgerError('PERMISSION_DENIED', 'no rule');
    expect(await codeOf(sessions.find(id))).to.equal('PERMISSION_DENIED');
    expect([session.signal.aborted, await codeOf(sessions.find(id))]).to.deep.equal([true, 'UNAUTHENTICATED']);
  });

  it('The session store continues for two minutes while no allocator answers, and keeps the session', async () => {
    const { sessions, state } = controlled();
    const { id } = await sessions.create('alice');
    state.failure = new IpledgerError('UNAVAILABLE', 'no allocator');
    state.now += 2 * minute - 1;
    expect(await codeOf(sessions.find(id))).to.equal('');
    state.now += 1;
    expect(await codeOf(sessions.find(id))).to.equal('UNAVAILABLE');
    state.failure = undefined;
    expect(await codeOf(sessions.find(id))).to.equal('');
  });

  it('The session store ends the least recently used session beyond ten sessions of a person, and beyond 500 in all', async () => {
    const { sessions } = controlled();
    const first = await sessions.create('alice');
    const second = await sessions.create('alice');
    await sessions.find(first.id);
    for (let count = 2; count <= 10; count++) await sessions.create('alice');
    expect([await codeOf(sessions.find(first.id)), await codeOf(sessions.find(second.id))]).to.deep.equal([
      '',
      'UNAUTHENTICATED',
    ]);
    for (let user = 0; user < 500; user++) await sessions.create(`user-${user}`);
    expect([sessions.size, await codeOf(sessions.find(first.id))]).to.deep.equal([500, 'UNAUTHENTICATED']);
  });
});
