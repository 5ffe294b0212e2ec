/** Sends random bytes by TCP from one network namespace to another, and compares what arrived. */
import { expect } from 'chai';
import type { Run } from '../run.ts';
import { inNamespace, type Namespace } from './network-namespaces.ts';

const port = 7_000;

/** The program that receives until the sender ends, and prints the hash of the received bytes. */
const receiver = `
  const hash = require('node:crypto').createHash('sha256');
  const server = require('node:net').createServer((socket) => {
    socket.on('data', (chunk) => hash.update(chunk));
    socket.on('end', () => { console.log(hash.digest('hex')); socket.end(); server.close(); });
  }).listen(${port}, '::');`;

/** The program that sends when the receiver listens, and prints the hash of the sent bytes. */
const sender = (address: string, bytes: number): string => `
  const { createHash, randomBytes } = require('node:crypto');
  const data = randomBytes(${bytes});
  const send = () => {
    const socket = require('node:net').connect(${port}, '${address}');
    socket.on('error', () => setTimeout(send, 50));
    socket.on('connect', () => socket.end(data));
    socket.on('end', () => console.log(createHash('sha256').update(data).digest('hex')));
    socket.resume();
  };
  send();`;

/** Expects that all bytes of a transfer to an address of `to` arrive. */
export async function expectTransfer(
  run: Run,
  { from, to, address, bytes }: { from: Namespace; to: Namespace; address: string; bytes: number },
): Promise<void> {
  const [received, sent] = await Promise.all([
    inNamespace(to, [process.execPath, '-e', receiver], { signal: run.signal }),
    inNamespace(from, [process.execPath, '-e', sender(address, bytes)], { signal: run.signal }),
  ]);
  expect(received.code, received.stderr).to.equal(0);
  expect(received.stdout)
    .to.equal(sent.stdout)
    .and.match(/^[0-9a-f]{64}\n$/);
}
