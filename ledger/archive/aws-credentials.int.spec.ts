/**
 * Sends an archive's requests, with credentials of the environment, to a fake object store and STS.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { failureOf, never } from '../log/testing/running-writer.ts';
import { S3Archive } from './s3-archive.ts';

const minuteMs = 60_000;
const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** The reply of STS, with other elements around the credentials, as Amazon sends it. */
const credentialsReply = (key: string, expiration: string): string => `<?xml version="1.0"?>
<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>system:serviceaccount:ipledger:ipledger-allocator</SubjectFromWebIdentityToken>
    <AssumedRoleUser><AssumedRoleId>AROA:ipledger</AssumedRoleId></AssumedRoleUser>
    <Credentials>
      <SessionToken>session+of/${key}==</SessionToken>
      <SecretAccessKey>secret+of/${key}</SecretAccessKey>
      <Expiration>${expiration}</Expiration>
      <AccessKeyId>${key}</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`;

describe('The AWS credentials of an archive', () => {
  let server: Server;
  let folder: string;
  let tokenFile: string;
  let endpoint: string;
  /** The access key and session token of each request to the object store. */
  let signers: { readonly key: string | undefined; readonly session: string | undefined }[];
  /** The forms that STS received. */
  let exchanges: URLSearchParams[];
  let answerSts: (response: ServerResponse) => void;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    if (request.url === '/sts/') {
      exchanges.push(new URLSearchParams(body));
      answerSts(response);
      return;
    }
    const [, key] = /Credential=([^/]+)\//.exec(request.headers.authorization ?? '') ?? [];
    signers.push({ key, session: request.headers['x-amz-security-token']?.toString() });
    response.end('content');
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-aws-'));
    tokenFile = join(folder, 'token');
    server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    writeFileSync(tokenFile, 'token-1\n');
    signers = [];
    exchanges = [];
    answerSts = (response) => void response.end(credentialsReply(`ASIA${exchanges.length}`, fromNow(60 * minuteMs)));
  });
  after(() => {
    server.close().closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  const archiveWith = (env: NodeJS.ProcessEnv): S3Archive =>
    S3Archive.fromEnvironment('s3://archive', { IPLEDGER_ARCHIVE_ENDPOINT: endpoint, ...env });
  const withWebIdentity = (env: NodeJS.ProcessEnv = {}): S3Archive =>
    archiveWith({
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/ledger',
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ENDPOINT_URL_STS: `${endpoint}/sts/`,
      ...env,
    });
  const get = async (archive: S3Archive): Promise<string | undefined> =>
    (await archive.get('file', 100, never))?.toString();

  it('credentials can be an access key without a session token', async () => {
    expect(await get(archiveWith({ AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 's' }))).to.equal('content');
    expect(signers).to.deep.equal([{ key: 'AKIA', session: undefined }]);
  });

  it('credentials can be a temporary access key with the session token of the environment', async () => {
    const env = { AWS_ACCESS_KEY_ID: 'ASIA', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 'session' };
    expect(await get(archiveWith(env))).to.equal('content');
    expect(signers).to.deep.equal([{ key: 'ASIA', session: 'session' }]);
  });

  it('credentials of the environment with a line end or another unprintable character are refused, and the variable is named', () => {
    const valid = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 'session' };
    for (const name of Object.keys(valid))
      for (const value of ['key\n', 'key\u00ff', ' key'])
        expect(() => archiveWith({ ...valid, [name]: value }), JSON.stringify({ [name]: value })).to.throw(
          `${name} has a space, a line end or another character that no credential has: remove it`,
        );
  });

  it('credentials of STS that no header can carry are refused with a reason', async () => {
    answerSts = (response) => void response.end(credentialsReply('a\ufffd', fromNow(60 * minuteMs)));
    expect(await failureOf(get(withWebIdentity()))).to.deep.include({
      code: 'UNAVAILABLE',
      message: `the archive: no credentials for role arn:aws:iam::123456789012:role/ledger from ${endpoint}/sts/: the reply has no credentials`,
    });
  });

  it('credentials can be those of a role that STS grants to a web identity token, once for many requests', async () => {
    const archive = withWebIdentity();
    expect(await Promise.all([get(archive), get(archive)])).to.deep.equal(['content', 'content']);
    await archive.put('file', Buffer.from('x'), never);
    const signer = { key: 'ASIA1', session: 'session+of/ASIA1==' };
    expect(signers).to.deep.equal([signer, signer, signer]);
    expect(exchanges.map((form) => Object.fromEntries(form))).to.deep.equal([
      {
        Action: 'AssumeRoleWithWebIdentity',
        Version: '2011-06-15',
        RoleArn: 'arn:aws:iam::123456789012:role/ledger',
        RoleSessionName: 'ipledger',
        WebIdentityToken: 'token-1',
      },
    ]);
  });

  it('temporary credentials are renewed before they expire, with the token that is in the file at that time', async () => {
    answerSts = (response) => void response.end(credentialsReply(`ASIA${exchanges.length}`, fromNow(4 * minuteMs)));
    const archive = withWebIdentity({ AWS_ROLE_SESSION_NAME: 'allocator-0' });
    await get(archive);
    writeFileSync(tokenFile, 'token-2');
    await get(archive);
    expect(signers.map(({ key }) => key)).to.deep.equal(['ASIA1', 'ASIA2']);
    expect(exchanges.map((form) => form.get('WebIdentityToken'))).to.deep.equal(['token-1', 'token-2']);
    expect(exchanges[0]?.get('RoleSessionName')).to.equal('allocator-0');
  });

  it('temporary credentials are kept until they expire while STS does not answer', async () => {
    answerSts = (response) => void response.end(credentialsReply('ASIA1', fromNow(4 * minuteMs)));
    const archive = withWebIdentity();
    await get(archive);
    answerSts = (response) => void response.destroy();
    expect(await get(archive)).to.equal('content');
    expect(exchanges).to.have.length(2);
    expect(signers.map(({ key }) => key)).to.deep.equal(['ASIA1', 'ASIA1']);
  });

  it('a request fails with the reason of STS, and the next request calls STS again', async () => {
    answerSts = (response) => {
      const error = '<Code>InvalidIdentityToken</Code><Message>No OpenIDConnect provider found</Message>';
      response.writeHead(400).end(`<ErrorResponse><Error>${error}</Error></ErrorResponse>`);
    };
    const archive = withWebIdentity();
    const { code, message } = await failureOf(get(archive));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.contain(`${endpoint}/sts/`).and.contain('role arn:aws:iam::123456789012:role/ledger');
    expect(message).to.contain('400 InvalidIdentityToken: No OpenIDConnect provider found');
    answerSts = (response) => void response.end(credentialsReply('ASIA2', fromNow(60 * minuteMs)));
    expect(await get(archive)).to.equal('content');
  });

  for (const [title, answer] of [
    ['a reply without credentials', (response: ServerResponse) => void response.end('<html>login</html>')],
    ['a time that is none', (response: ServerResponse) => void response.end(credentialsReply('ASIA1', 'soon'))],
    ['a redirect', (response: ServerResponse) => void response.writeHead(307, { location: '/file' }).end()],
    ['a reply that never ends', sendWithoutEnd],
  ] as const)
    it(`The AWS credentials of an archive fail with UNAVAILABLE for ${title}, and the object store receives nothing`, async () => {
      answerSts = answer;
      expect((await failureOf(get(withWebIdentity()))).code).to.equal('UNAVAILABLE');
      expect(signers).to.deep.equal([]);
    });

  it('The AWS credentials of an archive fail with UNAVAILABLE and the path of the token file if it cannot be read', async () => {
    const { code, message } = await failureOf(get(withWebIdentity({ AWS_WEB_IDENTITY_TOKEN_FILE: '/no/such/token' })));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.contain('/no/such/token').and.contain('ENOENT');
  });

  it('the archive does not open if the environment has neither keys nor a web identity', () => {
    for (const env of [{}, { AWS_ROLE_ARN: 'role' }, { AWS_ACCESS_KEY_ID: 'AKIA' }])
      expect(() => archiveWith(env)).to.throw('or AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE');
  });
});

function sendWithoutEnd(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 << 10, ' ');
  const send = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', send);
  send();
}
