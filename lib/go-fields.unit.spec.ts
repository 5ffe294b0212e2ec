import { expect } from 'chai';
import { goFields } from './go-fields.ts';

describe('JSON fields as Go reads them', () => {
  const read = goFields(['name', 'ips', 'default-route']);

  it('known field names match in any letter case, and other names stay', () => {
    expect(read(JSON.parse('{"Name":"a","IPS":1,"Default-Route":2,"Other":3}'))).to.deep.equal({
      name: 'a',
      ips: 1,
      'default-route': 2,
      Other: 3,
    });
    expect(read({ 'ip\u017f': 1 })).to.deep.equal({ ips: 1 });
  });

  it('the last of several values of a field counts', () => {
    expect(read(JSON.parse('{"ips":1,"IPs":2}'))).to.deep.equal({ ips: 2 });
    expect(read(JSON.parse('{"IPs":2,"ips":1}'))).to.deep.equal({ ips: 1 });
  });

  it('a null field is absent, and replaces no other value', () => {
    expect(read(JSON.parse('{"name":null,"ips":1,"IPs":null,"Other":null}'))).to.deep.equal({ ips: 1, Other: null });
  });

  it('values that are not objects stay unchanged', () => {
    for (const value of [null, 'text', 7, [1]]) expect(read(value)).to.equal(value);
  });
});
