import { expect } from 'chai';
import fc from 'fast-check';
import { cleanJson, cleanLines, createNameHash, redact } from './redact.ts';

const letters = (alphabet: string, minLength: number, maxLength = minLength): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...alphabet.split('')), minLength, maxLength, size: 'max' });
const base64 = letters('abcXYZ0189+/', 40, 200);
const words = letters('abcXYZ0189', 8, 40);

/** A secret of each kind in the text in which it occurs. */
const kinds: Readonly<Record<string, fc.Arbitrary<{ secret: string; text: string }>>> = {
  'private key': base64.map((secret) => ({
    secret,
    text: `-----BEGIN EC PRIVATE KEY-----\n${secret}\n-----END EC PRIVATE KEY-----`,
  })),
  'private key that is cut off': base64.map((secret) => ({ secret, text: `-----BEGIN PRIVATE KEY-----\n${secret}` })),
  'checkpoint key': base64.map((secret) => ({ secret, text: `PRIVATE+KEY+ipledger+1a2b+${secret}` })),
  'JSON Web Token': words.map((secret) => ({ secret, text: `eyJhbGciOiJSUzI1NiJ9.${secret}.${secret}` })),
  'bearer token': words.map((secret) => ({ secret, text: `Authorization: Bearer ${secret}` })),
  'password of a URL': words.map((secret) => ({ secret, text: `postgres://user:${secret}@db:5432/x` })),
  'access key': letters('ABCXYZ0189', 16).map((secret) => ({
    secret: `AKIA${secret}`,
    text: `key AKIA${secret} here`,
  })),
  'variable of the environment': words.map((secret) => ({ secret, text: `AWS_SECRET_ACCESS_KEY=${secret}` })),
  'field of YAML': words.map((secret) => ({ secret, text: `etcd_password: '${secret}'` })),
  'PEM in base64': base64.map((secret) => ({ secret, text: `client-key-data: LS0tLS1CRUdJTi${secret}` })),
  'PEM in base64 in a Secret': base64.map((secret) => ({ secret, text: `"tls.key":"LS0tLS1CRUdJTi${secret}"` })),
  'login of a registry': words.map((secret) => ({ secret, text: `{"auths":{"r.example":{"auth":"${secret}"}}}` })),
  'variable of a container': words.map((secret) => ({
    secret,
    text: `{"name":"AWS_SECRET_ACCESS_KEY","value":"${secret}"}`,
  })),
  'variable of a container in YAML': words.map((secret) => ({
    secret,
    text: `- name: AWS_SECRET_ACCESS_KEY\n  value: ${secret}`,
  })),
  'flag with a space': words.map((secret) => ({ secret, text: `s3 --secret-access-key ${secret} --verbose` })),
  'flag of etcd': words.map((secret) => ({ secret, text: `--etcd-password ${secret}` })),
  'user of etcdctl': words.map((secret) => ({ secret, text: `etcdctl --user root:${secret} get x` })),
  'signature of a URL': words.map((secret) => ({ secret, text: `https://s3/x?X-Amz-Signature=${secret}&x=1` })),
  'payload of Helm': base64.map((secret) => ({ secret, text: `release: H4sIAAAA${secret}` })),
  'bootstrap token': letters('abc0189', 15).map((secret) => ({ secret: `${secret}7`, text: `join 07401b.${secret}7` })),
  'token of GitHub': letters('abcXYZ0189', 36).map((secret) => ({ secret, text: `clone ghp_${secret}` })),
  'short variable': letters('abcXYZ0189', 6).map((secret) => ({ secret: `=${secret}`, text: `DB_PWD=${secret}` })),
  cookie: words.map((secret) => ({ secret, text: `Cookie: id=1; session=${secret}` })),
  'encrypted key': base64.map((secret) => ({
    secret,
    text: `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0A\n\n${secret}\n-----END RSA PRIVATE KEY-----`,
  })),
  'key of PGP': base64.map((secret) => ({
    secret,
    text: `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${secret}\n-----END PGP PRIVATE KEY BLOCK-----`,
  })),
  'list of YAML': words.map((secret) => ({ secret, text: `password: ['${secret}', '${secret}']` })),
  'map of YAML': words.map((secret) => ({ secret, text: `secret: {value: ${secret}}` })),
  'field of JSON': words.map((secret) => ({ secret, text: JSON.stringify({ apiKey: secret }) })),
};

describe('Redaction', () => {
  for (const [kind, planted] of Object.entries(kinds))
    it(`Redaction removes a ${kind}, in a log, in JSON, in JSON inside of JSON, and beside other text`, () => {
      fc.assert(
        fc.property(planted, letters('ab :"{}\n', 0, 30), ({ secret, text }, around) => {
          const line = `${around} ${text} ${around}`;
          const nested = JSON.stringify({ msg: JSON.stringify({ config: text }) });
          for (const each of [line, nested, JSON.stringify({ msg: line })]) expect(redact(each)).to.not.contain(secret);
          const cleaned = JSON.stringify(cleanJson({ spec: { config: text, list: [line] } }, redact));
          expect(cleaned).to.not.contain(secret);
        }),
      );
    });

  it('Redaction removes a password of any characters from the configuration of a network, and from a JSON line of a log', () => {
    for (const password of [
      'ab,cdef',
      'Abc {1}',
      'correct horse',
      'a;b]c[d}',
      'with "quotes" twice',
      "it's",
      'back\\slash',
    ]) {
      const config = JSON.stringify({ ipam: { type: 'whereabouts', etcd_password: password, range: '10.0.0.0/8' } });
      const cleaned = JSON.stringify(cleanJson([{ spec: { config } }], redact));
      const lines = cleanLines(`start\n${JSON.stringify({ msg: config, password })}\nend`, redact);
      for (const text of [cleaned, lines, redact(config), redact(`using ${config} for it`)]) {
        for (const part of password.split(/[^\w]+/).filter((each) => each.length > 2))
          expect(text).to.not.contain(part);
        expect(text).to.contain('whereabouts');
      }
      expect(`${cleaned}${lines}${redact(config)}`)
        .to.contain('10.0.0.0/8')
        .and.contain('end');
    }
  });

  it('Redaction removes all texts below a field, a variable and a flag named as a secret', () => {
    const plain = [
      { password: ['x-1'], secret: { value: 'x-1' }, auths: { host: { auth: 'x-1' } } },
      { env: [{ name: 'AWS_SECRET_ACCESS_KEY', value: 'x-1' }] },
      { args: ['--etcd-password', 'x-1', '--name', 'web'], 'tls.key': 'x-1', Cookie: 'x-1' },
    ];
    const cleaned = JSON.stringify(cleanJson(plain, redact));
    expect(cleaned).to.not.contain('x-1');
    expect(cleaned).to.contain('"web"').and.contain('AWS_SECRET_ACCESS_KEY');
  });

  it('Redaction removes levels of JSON that are too deep, without an overflow', () => {
    for (const text of ['[{"a":'.repeat(5_000) + '1' + '}]'.repeat(5_000), '['.repeat(200_000)])
      expect(JSON.stringify(cleanJson({ text }, redact)).length).to.be.greaterThan(0);
  });

  it('Redaction keeps the cause that a log names', () => {
    for (const cause of [
      'cannot read Secret: ipledger-agent-authority',
      'failed to fetch token: serviceaccounts "x" not found',
      'authorization: forbidden',
      'open /etc/ipledger/tls.key: permission denied',
      'Secret "ipledger-tls" is absent',
      'clusterroles.rbac.authorization.k8s.io "reader" is forbidden',
      'clusterroles.rbac.authorization.k8s.io: not found',
    ])
      expect(redact(cause)).to.equal(cause);
  });

  it('Redaction removes the text of a field named as a secret, at any depth', () => {
    const object = { a: [{ clientSecret: 'x1', token: 'x2', tokenCount: 3, name: 'web' }] };
    expect(cleanJson(object, redact)).to.deep.equal({
      a: [{ clientSecret: '[redacted]', token: '[redacted]', tokenCount: 3, name: 'web' }],
    });
  });

  it('Redaction keeps texts that only resemble a secret', () => {
    const text = '10.0.0.2 of Pod default/web: no address; see ipledger why default/web, sha256:0a1b2c';
    expect(redact(text)).to.equal(text);
    const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';
    expect(redact(certificate)).to.equal(certificate);
  });

  it('Redaction takes time that is linear in the text', () => {
    for (const piece of [
      'password',
      '-----BEGIN ',
      '-----BEGIN PRIVATE KEY-----',
      'eyJ',
      '://a',
      'Bearer ',
      'token="',
      'token=\\',
      `token="token='`,
      'token: [',
      'token: ["',
      'name: token',
      'name: token value: ',
      '--token ',
      '--user a',
      'LS0tLS1CRUdJTi',
      'cookie: ',
      'a-',
    ])
      expect(redact(piece.repeat(100_000)).length).to.be.greaterThan(0);
  });
});

describe('Hashed names', () => {
  it('Hashed names are equal within a bundle, differ between two bundles, and contain no name', () => {
    const [hash, other] = [createNameHash(['shop/web-0', 'node-7.example.org']), createNameHash(['shop/web-0'])];
    const [one, two] = ['Pod shop/web-0 on node-7.example.org', 'IP web-0.shop.lan.default'].map(hash);
    expect(`${one} ${two}`).to.not.match(/shop|web-0|node-7|example/);
    expect(two).to.equal(`IP ${hash('web-0')}.${hash('shop')}.lan.default`);
    expect(other('shop')).to.not.equal(hash('shop'));
    expect(hash('default kube-system 10.0.0.2')).to.equal('default kube-system 10.0.0.2');
  });
});
