import { expect } from 'chai';
import { goFields } from './go-fields.ts';

describe('JSON fields as Go reads them', () => {
  const read = goFields(['name', 'ips', 'default-route']);

  it('have a known name in any letter case, and keep other names', () => {
    expect(read(JSON.parse('{"Name":"a","IPS":1,"Default-Route":2,"Other":3}'))).to.deep.equal({
      name: 'a',
      ips: 1,
      'default-route': 2,
      Other: 3,
    });
    expect(read({ 'ip\u017f': 1 })).to.deep.equal({ ips: 1 });
  });

  it('have the last of several values', () => {
    expect(read(JSON.parse('{"ips":1,"IPs":2}'))).to.deep.equal({ ips: 2 });
    expect(read(JSON.parse('{"IPs":2,"ips":1}'))).to.deep.equal({ ips: 1 });
  });

  it('are absent if they are null, which replaces no other value', () => {
    expect(read(JSON.parse('{"name":null,"ips":1,"IPs":null,"Other":null}'))).to.deep.equal({ ips: 1, Other: null });
  });

  it('are not looked for in other values', () => {
    for (const value of [null, 'text', 7, [1]]) expect(read(value)).to.equal(value);
  });
});
