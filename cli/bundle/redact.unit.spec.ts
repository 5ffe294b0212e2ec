import { expect } from 'chai';
import fc from 'fast-check';
import { cleanJson, createNameHash, redact } from './redact.ts';

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
  'field of JSON': words.map((secret) => ({ secret, text: JSON.stringify({ apiKey: secret }) })),
};

describe('Redaction', () => {
  for (const [kind, planted] of Object.entries(kinds))
    it(`removes a ${kind}, in a log, in JSON, in JSON inside of JSON, and beside other text`, () => {
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

  it('removes the text of a field named as a secret, at any depth', () => {
    const object = { a: [{ clientSecret: 'x1', token: 'x2', tokenCount: 3, name: 'web' }] };
    expect(cleanJson(object, redact)).to.deep.equal({
      a: [{ clientSecret: '[redacted]', token: '[redacted]', tokenCount: 3, name: 'web' }],
    });
  });

  it('keeps what is no secret', () => {
    const text = '10.0.0.2 of Pod default/web: no address; see ipledger why default/web, sha256:0a1b2c';
    expect(redact(text)).to.equal(text);
    const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';
    expect(redact(certificate)).to.equal(certificate);
  });

  it('takes time that is linear in the text', () => {
    for (const piece of ['password', '-----BEGIN ', 'eyJ', '://a', 'Bearer ', 'token="'])
      expect(redact(piece.repeat(100_000)).length).to.be.greaterThan(0);
  });
});

describe('Hashed names', () => {
  it('are the same in the whole bundle, other ones in another bundle, and leave no name in it', () => {
    const [hash, other] = [createNameHash(['shop/web-0', 'node-7.example.org']), createNameHash(['shop/web-0'])];
    const [one, two] = ['Pod shop/web-0 on node-7.example.org', 'IP web-0.shop.lan.default'].map(hash);
    expect(`${one} ${two}`).to.not.match(/shop|web-0|node-7|example/);
    expect(two).to.equal(`IP ${hash('web-0')}.${hash('shop')}.lan.default`);
    expect(other('shop')).to.not.equal(hash('shop'));
    expect(hash('default kube-system 10.0.0.2')).to.equal('default kube-system 10.0.0.2');
  });
});
