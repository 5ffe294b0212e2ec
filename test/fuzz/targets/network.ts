/** Replies of OVSDB, S3, STS and the Kubernetes API, and data that identifies a caller. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Archive } from '../../../ledger/archive/s3-archive.ts';
import { readMessages } from '../../../lib/grpc/http2/connect.ts';
import { isCallFailure } from '../../../lib/grpc/channel.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { readPlainAccess } from '../../../lib/kubernetes/client/cluster-access.ts';
import { type Api, splitLines } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { listObjects } from '../../../lib/kubernetes/client/list-pages.ts';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import { MessageSplitter } from '../../../lib/ovsdb/message-splitter.ts';
import { OvsdbError } from '../../../lib/ovsdb/ovsdb-error.ts';
import { Replica } from '../../../lib/ovsdb/replica.ts';
import { parseSchema } from '../../../lib/ovsdb/schema.ts';
import { decodeResults, type Operation } from '../../../lib/ovsdb/transaction.ts';
import { identityIn, parseIdentity } from '../../../lib/tls/identity.ts';
import { kubernetesIdentity, parseKubernetesIdentity } from '../../../lib/tls/kubernetes-user.ts';
import { agentOf } from '../../../services/allocator/token-review/agent-token.ts';
import { userOf } from '../../../services/allocator/token-review/api-reviews.ts';
import { readUnverifiedToken } from '../../../services/allocator/token-review/unverified-token.ts';
import { FuzzFailure, type FuzzTarget } from '../fuzz-target.ts';

const never = new AbortController().signal;
const json = (value: unknown): string => JSON.stringify(value);
const maxBytes = 64 << 10;

const uuid = '6f1c2f4e-0a1b-4c2d-8e3f-0123456789ab';
const otherUuid = uuid.replace('6', '7');
const schema = {
  name: 'Test',
  version: '1.0.0',
  tables: {
    Item: {
      columns: {
        name: { type: 'string' },
        count: { type: { key: 'integer', min: 0, max: 1 } },
        texts: { type: { key: 'string', min: 0, max: 'unlimited' } },
        refs: { type: { key: { type: 'uuid', refTable: 'Item' }, min: 0, max: 'unlimited' } },
        labels: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
  },
};
const monitored = { Item: ['name', 'count', 'texts', 'refs', 'labels'] };
const row = {
  name: 'a',
  count: 7,
  texts: ['set', ['x', 'y']],
  refs: ['uuid', uuid],
  labels: ['map', [['k', 'v']]],
};
const parsedSchema = parseSchema(schema);
const operations: readonly Operation[] = [
  { op: 'insert', table: 'Item', row: { name: 'a' } },
  { op: 'select', table: 'Item', where: [] } as unknown as Operation,
];

/** Returns the result of an answer with these bytes. The splitter limits its levels. */
function resultOf(input: Buffer): unknown {
  let result: unknown;
  const splitter = new MessageSplitter(maxBytes + 20);
  const answer = Buffer.concat([Buffer.from('{"result":'), input, Buffer.from('}')]);
  splitter.push(answer, (message) => (result = message['result']));
  return result;
}

/** Applies updates that follow each other, and a reload. */
function applyUpdates(result: unknown): unknown {
  const { updates, reload } = asRecord(result);
  const replica = new Replica(monitored, 100);
  replica.apply(parsedSchema, { Item: { [uuid]: { initial: row } } });
  const applied = Array.isArray(updates) ? updates.map((each) => replica.apply(parsedSchema, each)) : [];
  return [applied, replica.reload(parsedSchema, reload)];
}

function splitMessages(input: Buffer): unknown {
  const messages: unknown[] = [];
  const splitter = new MessageSplitter(16 << 10);
  for (let at = 0; at < input.length; at += 100)
    splitter.push(input.subarray(at, at + 100), (message) => messages.push(message));
  return messages;
}

/** Makes a reply: a line with the status and headers as JSON, and then the body. */
function replyOf(input: Buffer): Response {
  const end = Math.max(0, input.indexOf(10));
  try {
    const { status, headers } = JSON.parse(input.toString('utf8', 0, end)) as { status: number; headers: object };
    return new Response([204, 304].includes(status) ? null : new Uint8Array(input.subarray(end + 1)), {
      status,
      headers: headers as Record<string, string>,
    });
  } catch {
    return new Response(new Uint8Array(input));
  }
}

/** Answers all requests of `work` with a reply. Retries of the client do not wait. */
async function withReply<Result>(input: Buffer, work: () => Promise<Result>): Promise<Result> {
  const { fetch: original, setTimeout: originalTimeout } = globalThis;
  globalThis.fetch = () => Promise.resolve(replyOf(input));
  globalThis.setTimeout = ((run: () => void) => setImmediate(run)) as unknown as typeof setTimeout;
  try {
    return await work();
  } finally {
    globalThis.fetch = original;
    globalThis.setTimeout = originalTimeout;
  }
}

const accessKey = { accessKeyId: 'a', secretAccessKey: 'b' };
const bucket = { endpoint: 'https://s3.example', bucket: 'b', prefix: '', region: 'us-east-1', timeoutMs: 60_000 };
const s3 = new S3Archive({ ...bucket, credentials: () => Promise.resolve(accessKey) });
const reply = (status: number, headers: object, body: string): string => `${json({ status, headers })}\n${body}`;

const folder = mkdtempSync(join(tmpdir(), 'ipledger-fuzz-'));
const file = (name: string, content: Buffer | string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const stsArchive = (): S3Archive =>
  S3Archive.fromEnvironment('s3://bucket/prefix', {
    AWS_ROLE_ARN: 'arn:aws:iam::1:role/x',
    AWS_WEB_IDENTITY_TOKEN_FILE: file('token', 'token'),
  });
const stsReply =
  '<AssumeRoleWithWebIdentityResponse><Credentials><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey>' +
  '<SessionToken>c</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResponse>';

const list = {
  kind: 'PodList',
  metadata: { resourceVersion: '7', continue: '' },
  items: [{ metadata: { name: 'a' } }],
};

/** Lists from an API server that answers each time with the same page, or the same events. */
async function listFrom(text: string): Promise<unknown> {
  const objects: unknown[] = [];
  const page: unknown = JSON.parse(text);
  let requests = 0;
  const api: Api = {
    server: 'https://api',
    request: () => (++requests > 3 ? Promise.reject(new ApiError(0, 'no more pages', {})) : Promise.resolve(page)),
    async *stream() {
      await Promise.resolve();
      yield* Array.isArray(page) ? page : [page];
    },
  };
  const options = { pageSize: 5, timeoutMs: 1_000, signal: never, isMetadata: false, mayStream: Array.isArray(page) };
  const version = await listObjects(api, '/api/v1/pods', options, (object) => objects.push(object));
  return { version, objects };
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<number> {
  let count = 0;
  for await (const chunk of chunks) count += chunk.length;
  return count;
}

/** Splits the bytes into pieces. */
async function* pieces(input: Buffer): AsyncGenerator<Buffer> {
  await Promise.resolve();
  for (let at = 0; at < input.length; at += 50) yield input.subarray(at, at + 50);
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://api.example:6443", certificate-authority-data: YQ==}}]
users: [{name: u, user: {token: t}}]
`;

async function readKubeconfig(input: Buffer): Promise<unknown> {
  const access = await readPlainAccess({ kubeconfig: file('kubeconfig', input) });
  if (!access) return undefined;
  const options = {};
  await access.applyToHTTPSOptions(options);
  return options;
}

const framed = (message: string): Buffer => {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.write(message, 5);
  return frame;
};

async function readFrames(input: Buffer): Promise<number> {
  try {
    return await collect(readMessages(pieces(input), 4 << 10));
  } catch (error) {
    if (isCallFailure(error)) throw new Error(error.details, { cause: error });
    throw new FuzzFailure(String(error), { cause: error });
  }
}

const review = {
  status: {
    authenticated: true,
    audiences: ['ipledger'],
    user: {
      username: 'system:serviceaccount:ipledger:node-agent',
      uid: 'u',
      groups: ['system:serviceaccounts'],
      extra: {
        'authentication.kubernetes.io/pod-name': ['agent-1'],
        'authentication.kubernetes.io/pod-uid': ['p'],
        'authentication.kubernetes.io/node-name': ['node-1'],
      },
    },
  },
};
const token = ['{"alg":"RS256"}', '{"sub":"a","aud":["ipledger"]}', 'sig']
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.');

const target = (name: string, more: Omit<FuzzTarget, 'name' | 'maxBytes'>): FuzzTarget => ({
  name: `network/${name}`,
  maxBytes,
  ...more,
});

export const networkTargets: readonly FuzzTarget[] = [
  target('ovsdb-messages', {
    format: 'bytes',
    seeds: () => [`${json({ id: 1, result: [row], error: null })}\n${json({ method: 'echo', params: [], id: 'e' })}`],
    decode: splitMessages,
    rejections: [OvsdbError],
  }),
  target('ovsdb-schema', {
    format: 'json',
    seeds: () => [json(schema)],
    decode: (input) => parseSchema(resultOf(input)),
    rejections: [OvsdbError],
  }),
  target('ovsdb-updates', {
    format: 'json',
    seeds: () => [
      json({
        updates: [
          { Item: { [uuid]: { modify: { texts: ['set', ['x', 'z']], labels: ['map', [['k', 'v']]], name: 'b' } } } },
          { Item: { [uuid]: { delete: null }, [otherUuid]: { insert: row } } },
        ],
        reload: { Item: { [uuid]: { initial: row } } },
      }),
    ],
    decode: (input) => applyUpdates(resultOf(input)),
    rejections: [OvsdbError],
  }),
  target('ovsdb-results', {
    format: 'json',
    seeds: () => [
      json([{ uuid: ['uuid', uuid] }, { rows: [row] }]),
      json([{ error: 'constraint violation', details: 'x' }, null]),
    ],
    decode: (input) => decodeResults(parsedSchema, operations, resultOf(input)),
    rejections: [OvsdbError],
  }),
  target('s3-object', {
    format: 'lines',
    seeds: () => [
      reply(200, { 'content-length': '4' }, 'data'),
      reply(404, {}, '<Error><Code>NoSuchKey</Code></Error>'),
      reply(503, {}, '<Error><Code>SlowDown</Code></Error>'),
    ],
    decode: (input) => withReply(input, () => s3.get('a/b', 1_000, never)),
  }),
  target('sts-credentials', {
    format: 'lines',
    seeds: () => [reply(200, {}, stsReply), reply(400, {}, '<Code>Denied</Code><Message>no</Message>')],
    decode: (input) => withReply(input, () => stsArchive().get('a/b', 64 << 10, never)),
  }),
  target('kubernetes-list', {
    format: 'json',
    seeds: () => [
      json(list),
      json([
        { type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '1' } } },
        {
          type: 'BOOKMARK',
          object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: '7' } },
        },
      ]),
      json([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }]),
    ],
    decode: (input) => listFrom(input.toString()),
    rejections: [ApiError, SyntaxError, Error],
  }),
  target('kubernetes-lines', {
    format: 'lines',
    seeds: () => ['{"type":"ADDED"}\n{"type":"DELETED"}\n'],
    decode: (input) => collect(splitLines(pieces(input), 4 << 10)),
    rejections: [Error],
  }),
  target('kubeconfig', {
    format: 'text',
    seeds: () => [kubeconfig],
    decode: readKubeconfig,
    rejections: [Error],
  }),
  target('grpc-frames', {
    format: 'bytes',
    seeds: () => [Buffer.concat([framed('abc'), framed('x'.repeat(200)), framed('')])],
    decode: readFrames,
    rejections: [Error],
  }),
  target('agent-review', {
    format: 'json',
    seeds: () => [json(review)],
    decode: (input) => agentOf(JSON.parse(input.toString()), 'ipledger/node-agent'),
    rejections: [SyntaxError],
  }),
  target('user-review', {
    format: 'json',
    seeds: () => [json(review)],
    decode: (input) => userOf(JSON.parse(input.toString()), { isForLedger: true }),
    rejections: [SyntaxError],
  }),
  target('token', {
    format: 'text',
    seeds: () => [token],
    decode: (input) => readUnverifiedToken(input.toString()),
  }),
  target('identity', {
    format: 'text',
    seeds: () => ['URI:ipledger://agent/node-1, DNS:a', 'ipledger://operator/ana', 'kubernetes:system%3Aanonymous'],
    decode: (input) => {
      const text = input.toString();
      parseIdentity(text);
      parseKubernetesIdentity(text);
      kubernetesIdentity(text);
      return identityIn(text);
    },
  }),
];
