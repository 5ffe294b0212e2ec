// Sends a backup from the node of its claim to the nodes of the members, because most local volumes are on one node each.
//   node send-backup.mjs serve FILE PORT
//   node send-backup.mjs fetch URL FILE     waits until the server answers
// Environment: BACKUP_TLS, a folder with ca.crt, tls.crt and tls.key of etcd's authority, which both sides need, or nothing. With
// BACKUP_TLS also BACKUP_SERVER_NAME, a name in the server's certificate.
import { createReadStream, createWriteStream, existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';

const attempts = 150;
const pauseMs = 2_000;
const silenceMs = 30_000;
const { BACKUP_TLS, BACKUP_SERVER_NAME } = process.env;
const read = (name) => readFileSync(join(BACKUP_TLS, name));
const tls = BACKUP_TLS ? { ca: read('ca.crt'), cert: read('tls.crt'), key: read('tls.key') } : undefined;
const [step, source, target] = process.argv.slice(2);

function serve(file, port) {
  const answer = async (_request, response) => {
    if (!existsSync(file)) return response.writeHead(404).end(`the claim has no backup ${basename(file)}`);
    response.writeHead(200, { 'content-length': statSync(file).size });
    await pipeline(createReadStream(file), response).catch(() => response.destroy());
  };
  const server = tls
    ? https.createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, answer)
    : http.createServer(answer);
  server.listen(Number(port), () => console.log(`serving ${file} on port ${port}`));
}

async function fetchOnce(url, file) {
  const options = { ...tls, ...(tls && { servername: BACKUP_SERVER_NAME }), timeout: silenceMs };
  const response = await new Promise((resolve, reject) => {
    const request = (tls ? https : http).get(url, options, resolve).on('error', reject);
    request.on('timeout', () => request.destroy(new Error(`no data for ${silenceMs} ms`)));
  });
  if (response.statusCode === 404) {
    console.error(`${await response.setEncoding('utf8').reduce((text, part) => text + part, '')}: set another one`);
    process.exit(1);
  }
  await pipeline(response, createWriteStream(`${file}.part`));
  const { size } = statSync(`${file}.part`);
  if (size !== Number(response.headers['content-length'])) throw new Error(`only ${size} bytes were received`);
  renameSync(`${file}.part`, file);
  console.log(`received ${file}, ${size} bytes`);
}

async function fetchBackup(url, file) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetchOnce(url, file);
    } catch (error) {
      if (attempt === attempts) throw error;
      await pause(pauseMs);
    }
  }
}

if (step === 'serve') serve(source, target);
else await fetchBackup(source, target);
