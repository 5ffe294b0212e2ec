import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import type { CertificateReloader } from '../../../lib/tls/certificate-reloader.ts';
import { accessOptions, useCertificates } from './etcd-access.ts';

describe('accessOptions', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ipledger-etcd-access-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  it('accessOptions returns no credentials for plain endpoints without authorities', () => {
    expect(accessOptions(['http://a:2379', 'b:2379'], {})).to.deep.equal({});
  });

  it('accessOptions returns the authorities of an etcd that requests no client certificate', () => {
    const authorities = fileOf('ca.crt', 'the authorities');
    const { credentials } = accessOptions(['https://a:2379', 'https://b:2379'], { authorities });
    expect(credentials?.rootCertificate.toString()).to.equal('the authorities');
  });

  it('accessOptions refuses a plain endpoint with authorities, and TLS without them', () => {
    const authorities = fileOf('ca.crt', 'the authorities');
    expect(() => accessOptions(['https://a:2379', 'http://b:2379'], { authorities })).to.throw(
      'not every etcd endpoint uses TLS: write each as https://host:port, not https://a:2379,http://b:2379',
    );
    expect(() => accessOptions(['https://a:2379'], {})).to.throw('TLS to etcd needs its authorities');
  });

  it('accessOptions reads the password again for each use, without a final line break', () => {
    const passwordFile = fileOf('password', 'first\n');
    const { auth } = accessOptions(['a:2379'], { user: { name: 'ipledger', passwordFile } });
    expect([auth?.username, auth?.password]).to.deep.equal(['ipledger', 'first']);
    fileOf('password', 'second\r\n');
    expect(auth?.password).to.equal('second');
  });
});

describe('useCertificates', () => {
  it('useCertificates sends no address as server name, and leaves the name of a member as it is', () => {
    const hosts = ['etcd-0.etcd:2379', '10.0.0.1:2379', '[fd00::1]:2379'].map((host) => ({
      host,
      channelCredentials: undefined,
      channelOptions: { kept: 1 },
    }));
    const client = { pool: { hosts, authenticator: {} } } as unknown as Etcd3;
    useCertificates(client, {} as CertificateReloader);
    const ofAddress = { kept: 1, 'grpc.ssl_target_name_override': 'etcd' };
    expect(hosts.map(({ channelOptions }) => channelOptions)).to.deep.equal([{ kept: 1 }, ofAddress, ofAddress]);
    for (const { channelCredentials } of hosts) expect(channelCredentials).to.not.equal(undefined);
  });
});
