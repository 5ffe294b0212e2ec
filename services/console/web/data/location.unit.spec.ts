import { expect } from 'chai';
import { addressHref, hrefOf, parsePlace } from './location.ts';

describe('The address of a page', () => {
  it('The address of a page keeps path and query through a copy', () => {
    const [path, query] = [['pods', 'shop', 'a/b?c#d %'], { at: '2026-11-17T14:05:00Z', q: '<b>&"' }];
    expect(parsePlace(hrefOf(path, query))).to.deep.equal({ path, query });
  });

  it('The address of a page has no empty fields', () => {
    expect(hrefOf(['events'], { subnet: '', pod: undefined, type: 'AddressBound' })).to.equal(
      '/events?type=AddressBound',
    );
    expect(hrefOf([])).to.equal('/');
  });

  it('The address of a page holds IPv6 addresses', () => {
    expect(parsePlace(addressHref('lan', 'fd00::5')).path).to.deep.equal(['subnets', 'lan', 'fd00::5']);
  });

  it('The address of a page accepts a path that is no valid escape', () => {
    expect(parsePlace('/pods/100%/x').path).to.deep.equal(['pods', '100%', 'x']);
  });
});
