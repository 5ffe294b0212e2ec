// Keeps a member of etcd that lost its data from starting under its old identity: it could contradict its earlier votes.
// A member may start if it has data, if etcd has never started, or after it was removed from etcd and added again.
//   check-etcd-member FOLDER   the data folder; exit status 1 while the member must not start
// Environment: NAME and MEMBERS as etcd takes them, FORMED once etcd has started, ETCD_INITIAL_CLUSTER_STATE, TLS_FOLDER, and
// WAIT_MS, how long the program waits until the member may start.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { get as getPlain } from 'node:http';
import { get as getTls } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { NAME, MEMBERS, FORMED, ETCD_INITIAL_CLUSTER_STATE, TLS_FOLDER, WAIT_MS = '60000' } = process.env;
const timeoutMs = 3_000;
const pollMs = 1_000;
const tls = TLS_FOLDER && {
  ca: readFileSync(join(TLS_FOLDER, 'ca.crt')),
  cert: readFileSync(join(TLS_FOLDER, 'tls.crt')),
  key: readFileSync(join(TLS_FOLDER, 'tls.key')),
};

function hasData(folder) {
  const log = join(folder, 'member', 'wal');
  return existsSync(log) && readdirSync(log).some((name) => name.endsWith('.wal'));
}

/** Returns the members that a peer knows. @throws Error if the peer does not answer */
function listMembers(peer) {
  return new Promise((resolve, reject) => {
    const get = peer.startsWith('https:') ? getTls : getPlain;
    const sent = get(`${peer}/members`, { ...tls, timeout: timeoutMs }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString()));
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    sent.on('error', reject);
  });
}

const members = MEMBERS.split(',')
  .map((each) => each.split('='))
  .map(([name, peer]) => ({ name, peer }));
const own = members.find(({ name }) => name === NAME).peer;
const remedy = `Replace it: set etcd.managed.replaceMember=${NAME}, as docs/operations.md describes`;

/** Returns why the member must not start; undefined if it may. An added member has no name, and no client URL before its first start. */
async function findObstacle() {
  const lists = await Promise.allSettled(
    members.filter(({ peer }) => peer !== own).map(({ peer }) => listMembers(peer)),
  );
  const answers = lists.flatMap(({ value }) => (value ? [value] : []));
  if (answers.length === 0) {
    const reasons = lists.map(({ reason }) => reason.message).join('; ');
    return `no other member answers, so it is unknown whether ${NAME} may start without data: ${reasons}`;
  }
  const entries = answers.map((list) => list.find(({ peerURLs }) => peerURLs.includes(own)));
  if (entries.some((entry) => !entry || entry.clientURLs?.length > 0))
    return `${NAME} has lost its data: if it started, it could vote against what it confirmed. ${remedy}`;
  if (entries.some(({ name }) => !name) && ETCD_INITIAL_CLUSTER_STATE !== 'existing')
    return `${NAME} was added to etcd again, but would start a cluster of its own. ${remedy}`;
  return undefined;
}

if (FORMED && !hasData(process.argv[2])) {
  const until = performance.now() + Number(WAIT_MS);
  let obstacle = await findObstacle();
  while (obstacle && performance.now() < until) {
    await sleep(pollMs);
    obstacle = await findObstacle();
  }
  if (obstacle) {
    console.error(obstacle);
    process.exitCode = 1;
  }
}
