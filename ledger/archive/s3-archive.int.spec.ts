import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { failureOf, never } from '../log/testing/running-writer.ts';
import { S3Archive } from './s3-archive.ts';

describe('An object store that an attacker writes', () => {
  let server: Server;
  let answer: (response: ServerResponse) => void;
  let archive: S3Archive;
  before(async () => {
    server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const credentials = () => Promise.resolve({ accessKeyId: 'a', secretAccessKey: 'b' });
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    archive = new S3Archive({ endpoint, bucket: 'archive', prefix: '', region: 'r', credentials, timeoutMs: 500 });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const maxBytes = 1 << 20;
  const get = () => archive.get('file', maxBytes, never);

  it('An object store that an attacker writes returns an object of the expected size, with and without a content-length', async () => {
    const content = Buffer.alloc(maxBytes, 'x');
    answer = (response) => void response.end(content);
    expect((await get())?.equals(content)).to.equal(true);
    answer = (response) => {
      response.write(content.subarray(1));
      response.end(content.subarray(0, 1));
    };
    expect((await get())?.equals(content)).to.equal(true);
  });

  it('get does not read an endless object without a content-length beyond the limit', async () => {
    let sent = 0;
    answer = (response) => {
      const chunk = Buffer.alloc(64 << 10);
      const send = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', send);
      send();
    };
    const { code, message } = await failureOf(get());
    expect(code).to.equal('LEDGER_DAMAGED');
    expect(message).to.match(/file is damaged: it has more than 1048576 bytes/);
    expect(sent, 'what the sockets buffer').to.be.below(64 * maxBytes);
  });

  it('get does not read an object whose content-length is over the limit', async () => {
    answer = (response) => void response.writeHead(200, { 'content-length': maxBytes + 1 }).write('x');
    expect((await failureOf(get())).code).to.equal('LEDGER_DAMAGED');
  });

  it('get does not unpack an object with a content-encoding beyond the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20));
    answer = (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    expect((await failureOf(get())).code).to.equal('LEDGER_DAMAGED');
  });

  it('get fails with UNAVAILABLE for a body that stops or breaks, and without a reply', async () => {
    answer = (response) => void response.write('x');
    expect((await failureOf(get())).code).to.equal('UNAVAILABLE');
    answer = (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('x');
      setImmediate(() => response.destroy());
    };
    expect((await failureOf(get())).code).to.equal('UNAVAILABLE');
  });

  it('get reads at most 4 KiB of an error reply', async () => {
    answer = (response) => {
      response.writeHead(404);
      const chunk = Buffer.alloc(64 << 10, ' ');
      const send = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', send);
      send();
    };
    expect(await get()).to.equal(undefined);
  });
});
