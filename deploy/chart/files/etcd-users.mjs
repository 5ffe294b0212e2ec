// Creates the users and roles of etcd and turns authentication on, as docs/security.md lists them. Idempotent.
// Environment: ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY.
//   etcd-users [PATH]   the path of a ConfigMap in the Kubernetes API, in which it then records that etcd has started
import { readFileSync } from 'node:fs';
import { request } from 'node:https';

const { ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY } = process.env;
const tls = { ca: readFileSync(ETCDCTL_CACERT), cert: readFileSync(ETCDCTL_CERT), key: readFileSync(ETCDCTL_KEY) };
const timeoutMs = 10_000;

/** The URL of the member to which requests go. */
let endpoint = '';

/** Sends one request. Returns the reply with its HTTP status. */
function send(url, options, body) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, timeout: timeoutMs }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('timeout', () => sent.destroy(new Error(`${url} did not answer within ${timeoutMs} ms`)));
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

/** Calls etcd's JSON gateway. */
const post = (path, body) => send(`${endpoint}/v3/auth/${path}`, { ...tls, method: 'POST' }, body);

/** Creates an object. Succeeds if it exists. */
async function add(path, body) {
  const { status, text } = await post(path, body);
  if (status !== 200 && !/already exist/.test(text)) throw new Error(`${path}: status ${status}: ${text}`);
}

const base64 = (text) => Buffer.from(text).toString('base64');
/** The range of all keys with the prefix: it ends at the prefix with its last byte raised. */
const [prefix, prefixEnd] = ['/ipledger/', '/ipledger0'];

async function addUser(user, role, permType) {
  await add('role/add', { name: role });
  if (permType) {
    await add('role/grant', { name: role, perm: { permType, key: base64(prefix), range_end: base64(prefixEnd) } });
  }
  await add('user/add', { name: user, options: { no_password: true } });
  await add('user/grant', { user, role });
}

/** Finds a member that answers. @throws Error of the last member if none does */
async function findMember() {
  let failure;
  for (endpoint of ETCDCTL_ENDPOINTS.split(',')) {
    try {
      return await post('status', {});
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

const { status, text } = await findMember();
// Stops if authentication is on: the gateway then accepts no certificate with a common name
if (/CommonName of client/.test(text)) {
  console.log('authentication is already on');
} else if (status !== 200) {
  throw new Error(`status: ${status}: ${text}`);
} else {
  await addUser('ipledger', 'ipledger', 'READWRITE');
  await addUser('ipledger-auditor', 'ipledger-auditor', 'READ');
  await addUser('root', 'root');
  await add('enable', {});
  console.log('created the users root, ipledger and ipledger-auditor; authentication is on');
}

/** Records that etcd has started, after which an empty member must not start as new (check-etcd-member.mjs). */
async function recordFormed(path) {
  const account = '/var/run/secrets/kubernetes.io/serviceaccount';
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const headers = {
    authorization: `Bearer ${readFileSync(`${account}/token`, 'utf8')}`,
    'content-type': 'application/merge-patch+json',
  };
  const options = { ca: readFileSync(`${account}/ca.crt`), headers, method: 'PATCH' };
  const { status, text } = await send(`${server}${path}`, options, { data: { formed: 'true' } });
  if (status !== 200) throw new Error(`PATCH ${path}: status ${status}: ${text}`);
}

const [path] = process.argv.slice(2);
if (path) await recordFormed(path);
