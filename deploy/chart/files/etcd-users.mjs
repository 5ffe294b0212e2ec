// Creates the users and roles of etcd and turns authentication on, as docs/security.md lists them. Idempotent.
// Environment: ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY.
//   etcd-users [PATH]   the path of a ConfigMap in the Kubernetes API, in which it then records that etcd has started
import { readFileSync } from 'node:fs';
import { request } from 'node:https';

const { ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY } = process.env;
const tls = { ca: readFileSync(ETCDCTL_CACERT), cert: readFileSync(ETCDCTL_CERT), key: readFileSync(ETCDCTL_KEY) };
const timeoutMs = 10_000;

/** The member that is called. */
let endpoint = '';

/** Sends one call to etcd's JSON gateway. Returns the reply with its HTTP status. */
function post(path, body) {
  return new Promise((resolve, reject) => {
    const sent = request(`${endpoint}/v3/auth/${path}`, { ...tls, method: 'POST', timeout: timeoutMs }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode, text });
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`${endpoint} did not answer within ${timeoutMs} ms`)));
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

/** An object that exists is success. */
async function add(path, body) {
  const { status, text } = await post(path, body);
  if (status !== 200 && !/already exist/.test(text)) throw new Error(`${path}: status ${status}: ${text}`);
}

const base64 = (text) => Buffer.from(text).toString('base64');
/** All keys with the prefix: the end of the range is the prefix with its last byte raised. */
const [prefix, prefixEnd] = ['/ipledger/', '/ipledger0'];

async function addUser(user, role, permType) {
  await add('role/add', { name: role });
  if (permType) {
    await add('role/grant', { name: role, perm: { permType, key: base64(prefix), range_end: base64(prefixEnd) } });
  }
  await add('user/add', { name: user, options: { no_password: true } });
  await add('user/grant', { user, role });
}

/** Calls the members one after the other. @throws Error of the last one if none answers */
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
// With authentication on, the gateway accepts no certificate with a common name
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

/** An empty member must not start as a new one from now on (check-etcd-member.mjs). */
function recordFormed(path) {
  const account = '/var/run/secrets/kubernetes.io/serviceaccount';
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const headers = {
    authorization: `Bearer ${readFileSync(`${account}/token`, 'utf8')}`,
    'content-type': 'application/merge-patch+json',
  };
  const ca = readFileSync(`${account}/ca.crt`);
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, ca, headers, method: 'PATCH', timeout: timeoutMs }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`PATCH ${path}: status ${response.statusCode}`)),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error(`the Kubernetes API did not answer within ${timeoutMs} ms`)));
    sent.on('error', reject);
    sent.end(JSON.stringify({ data: { formed: 'true' } }));
  });
}

const [path] = process.argv.slice(2);
if (path) await recordFormed(path);
