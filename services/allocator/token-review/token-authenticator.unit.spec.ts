import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Identity } from '../../../lib/tls/identity.ts';
import { TokenAuthenticator, type ReviewOutcome } from './token-authenticator.ts';

const agent = (name: string): Identity => ({ kind: 'agent', name, uri: `ipledger://agent/${name}` });
const unavailable = new IpledgerError('UNAVAILABLE', 'the API server is down');

describe('The authentication of tokens', () => {
  let now: number;
  let isDown: boolean;
  let valid: Map<string, Identity>;
  let reviewed: string[];
  let outcomes: ReviewOutcome[];
  let authenticator: TokenAuthenticator;
  beforeEach(() => {
    now = 0;
    isDown = false;
    valid = new Map([['right', agent('node-1')]]);
    reviewed = [];
    outcomes = [];
    authenticator = new TokenAuthenticator({
      now: () => now,
      onReviewed: (outcome) => outcomes.push(outcome),
      review: (token) => {
        reviewed.push(token);
        const identity = valid.get(token);
        if (isDown) return Promise.reject(unavailable);
        return identity
          ? Promise.resolve(identity)
          : Promise.reject(new IpledgerError('UNAUTHENTICATED', 'the token is rejected'));
      },
    });
  });

  /** Authenticates a token. Returns its node, or the error code. */
  const send = (token: string, connection: object = {}): Promise<string> =>
    authenticator.authenticate(token, connection).then(
      ({ name }) => name,
      (error: unknown) => IpledgerError.from(error).code,
    );
  const sendMany = async (count: number, token: (index: number) => string, connection?: object): Promise<string[]> => {
    const answers: string[] = [];
    for (let index = 0; index < count; index++) answers.push(await send(token(index), connection ?? {}));
    return answers;
  };

  it('The authentication of tokens reviews a token once for all calls of a minute, of any connection', async () => {
    expect(await Promise.all([send('right'), send('right'), send('right')])).to.deep.equal(Array(3).fill('node-1'));
    now = 59_999;
    expect(await send('right')).to.equal('node-1');
    expect(reviewed).to.deep.equal(['right']);
  });

  it('The authentication of tokens rejects a token that expired or was revoked after at most 60 s', async () => {
    expect(await send('right')).to.equal('node-1');
    valid.clear();
    now = 59_999;
    expect(await send('right')).to.equal('node-1');
    now = 60_000;
    expect(await send('right')).to.equal('UNAUTHENTICATED');
  });

  it('The authentication of tokens serves known tokens for 60 s while the API server is down, then answers UNAVAILABLE', async () => {
    expect(await send('right')).to.equal('node-1');
    isDown = true;
    now = 59_999;
    expect(await send('right')).to.equal('node-1');
    expect(await send('new')).to.equal('UNAVAILABLE');
    now = 60_000;
    expect(await send('right')).to.equal('UNAVAILABLE');
  });

  it('The authentication of tokens accepts a token within a second after the API server is back', async () => {
    isDown = true;
    expect(await send('right')).to.equal('UNAVAILABLE');
    isDown = false;
    expect(await send('right')).to.equal('UNAVAILABLE');
    now = 1_000;
    expect(await send('right')).to.equal('node-1');
  });

  it('The authentication of tokens reviews a rejected token once in 10 s', async () => {
    expect(await sendMany(100, () => 'wrong')).to.deep.equal(Array(100).fill('UNAUTHENTICATED'));
    expect(reviewed).to.have.length(1);
    now = 10_000;
    await send('wrong');
    expect(reviewed).to.have.length(2);
  });

  it('a flood of invented tokens on one connection causes 10 reviews, and then one review per second', async () => {
    const connection = {};
    const answers = await sendMany(1_000, (index) => `invented-${index}`, connection);
    expect(reviewed).to.have.length(10);
    expect(answers.slice(10)).to.deep.equal(Array(990).fill('RATE_LIMITED'));
    now = 3_000;
    await sendMany(100, (index) => `later-${index}`, connection);
    expect(reviewed).to.have.length(13);
    expect(outcomes.filter((outcome) => outcome === 'limited')).to.have.length(990 + 97);
  });

  it('a flood of invented tokens on many connections is limited, and an agent with a known token is served', async () => {
    expect(await send('right')).to.equal('node-1');
    await sendMany(5_000, (index) => `invented-${index}`);
    expect(reviewed.length).to.be.at.most(1_001);
    now = 60_000;
    await sendMany(10_000, (index) => `again-${index}`);
    expect(await send('right')).to.equal('node-1');
  });

  it('the cache is bounded, and rejected tokens never displace accepted tokens', async () => {
    expect(await send('right')).to.equal('node-1');
    for (let round = 0; round < 12; round++) {
      now += 10_000;
      await send('right');
      await sendMany(1_000, (index) => `invented-${round}-${index}`);
    }
    expect(authenticator.size).to.equal(10_001);
    const before = reviewed.length;
    expect(await send('right')).to.equal('node-1');
    expect(reviewed).to.have.length(before);
  });

  it('calls that wait for one review are limited per connection', async () => {
    const connection = {};
    const answers = await Promise.all(Array.from({ length: 200 }, () => send('right', connection)));
    expect(answers.filter((answer) => answer === 'node-1')).to.have.length(128);
    expect(answers.filter((answer) => answer === 'OVERLOADED')).to.have.length(72);
    expect(await send('right', connection)).to.equal('node-1');
  });
});
