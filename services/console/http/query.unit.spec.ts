import { expect } from 'chai';
import { Query } from './query.ts';

const query = (text: string): Query => new Query(new URLSearchParams(text));

describe('The query of a URL', () => {
  it('The query of a URL reads texts, numbers, instants, addresses and CIDRs, and their defaults', () => {
    const given = query('name=lan&limit=5&at=2026-01-01T00:00:00Z&ip=fd00::1&range=10.0.0.0/8');
    expect([
      given.text('name'),
      given.limit(),
      given.instant('at'),
      given.address('ip'),
      given.cidr('range'),
    ]).to.deep.equal(['lan', 5, '2026-01-01T00:00:00Z', 'fd00::1', '10.0.0.0/8']);
    const empty = query('');
    expect([empty.text('name'), empty.limit(), empty.instant('at'), empty.address('ip'), empty.page()]).to.deep.equal([
      '',
      100,
      '',
      '',
      '',
    ]);
  });

  it('The query of a URL rejects a parameter that occurs twice, is too long, or has control characters', () => {
    expect(() => query('name=a&name=b').text('name')).to.throw('name occurs twice');
    expect(() => query(`name=${'a'.repeat(254)}`).text('name')).to.throw('253 is the limit');
    expect(() => query('name=a%00b').text('name')).to.throw('control characters');
    expect(() => query('name=%E2%80%AEb').text('name')).to.throw('control characters');
  });

  it('The query of a URL rejects a number that is out of range, and a value of the wrong form', () => {
    for (const limit of ['0', '501', '1e2', '-1', '1.5', 'x'])
      expect(() => query(`limit=${limit}`).limit(), limit).to.throw('write a whole number from 1 to 500');
    expect(() => query('at=tomorrow').instant('at')).to.throw('is no instant');
    expect(() => query('ip=10.0.0.0/8').address('ip')).to.throw('is no address');
    expect(() => query('range=10.0.0.0').cidr('range')).to.throw('is no CIDR');
  });
});
