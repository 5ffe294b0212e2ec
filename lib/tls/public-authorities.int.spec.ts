import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';

const file = JSON.stringify(join(import.meta.dirname, 'public-authorities.ts'));
const program = `
import tls from 'node:tls';
import { trustPublicAuthorities } from ${file};
const before = tls.getCACertificates('default').length;
trustPublicAuthorities();
trustPublicAuthorities();
console.log(before, tls.getCACertificates('default').length - tls.rootCertificates.length);
`;

/**
 * Counts the default authorities before the call, and how many more than the public ones exist
 * after it.
 */
function countAuthorities(...flags: string[]): string {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: '', NODE_OPTIONS: '' };
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', program], {
    env,
    encoding: 'utf8',
  });
  return stdout.trim() || stderr;
}

describe('trustPublicAuthorities', () => {
  it('trustPublicAuthorities trusts the public authorities when Node has started without them', () => {
    expect(countAuthorities('--use-openssl-ca')).to.equal('0 0');
  });

  it('trustPublicAuthorities changes nothing when Node has loaded the public authorities', () => {
    expect(countAuthorities()).to.match(/^[1-9]\d* 0$/);
  });
});
