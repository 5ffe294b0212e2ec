import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { parse } from 'yaml';
import { formatKrewManifest } from './krew-manifest.ts';

describe('formatKrewManifest', () => {
  it('formatKrewManifest has the version, and the address and digest of each archive', () => {
    const content = Buffer.from('archive');
    const archive = {
      os: 'linux',
      architecture: 'amd64',
      url: 'https://example.org/a.tar.gz',
      content,
      executable: 'a/b',
    };
    const manifest: unknown = parse(formatKrewManifest('tool', '1.2.3', [archive]));
    expect(manifest).to.have.nested.property('metadata.name', 'tool');
    expect(manifest).to.have.nested.property('spec.version', 'v1.2.3');
    expect(manifest).to.have.deep.nested.property('spec.platforms', [
      {
        selector: { matchLabels: { os: 'linux', arch: 'amd64' } },
        uri: 'https://example.org/a.tar.gz',
        sha256: createHash('sha256').update(content).digest('hex'),
        bin: 'a/b',
      },
    ]);
  });
});
