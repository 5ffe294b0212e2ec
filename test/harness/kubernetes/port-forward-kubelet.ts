/**
 * The part of a kubelet that forwards ports, for clusters without nodes: the API server authorizes
 * a port-forward and sends it here. The protocol is that of the kubelet over a WebSocket
 * (v4.channel.k8s.io): channel 0 is data, channel 1 is errors, and the first message of each
 * channel is the port.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { issueCertificate, openAuthority } from '../certificates/certificate-authority.ts';
import type { Run } from '../run.ts';
import type { Cluster } from './cluster.ts';

const webSocketId = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'; // RFC 6455, section 1.3
const protocol = 'v4.channel.k8s.io';
const [binary, closing, ping, pong] = [2, 8, 9, 10];

/**
 * Creates a Node whose kubelet forwards each port of its Pods to the same port of this machine's
 * loopback.
 */
export async function addForwardingNode(run: Run, cluster: Cluster, name: string): Promise<void> {
  const authority = await openAuthority(join(run.folder, `kubelet-${name}`));
  const pair = await issueCertificate(authority, { name, commonName: name, alternativeNames: ['IP:127.0.0.1'] });
  const server = createServer({ cert: readFileSync(pair.cert), key: readFileSync(pair.key) }, (_request, response) =>
    response.writeHead(501).end('this kubelet only forwards ports'),
  );
  const open = new Set<Duplex>();
  server.on('upgrade', (request, socket: Duplex) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const port = Number(new URL(request.url ?? '', 'https://kubelet').searchParams.get('port'));
    const key = request.headers['sec-websocket-key'] ?? '';
    const accept = createHash('sha1')
      .update(key + webSocketId)
      .digest('base64');
    const headers = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
    const lines = ['HTTP/1.1 101 Switching Protocols', ...headers, `Sec-WebSocket-Protocol: ${protocol}`, '', ''];
    socket.write(lines.join('\r\n'));
    forward(socket, port);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  run.onEnd(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await cluster.kubectl(['patch', 'node', name, '--subresource=status', '-p', JSON.stringify({ status })]);
}

function forward(outer: Duplex, port: number): void {
  const inner: Socket = connect(port, '127.0.0.1');
  const number = Buffer.alloc(2);
  number.writeUInt16LE(port);
  for (const channel of [0, 1]) outer.write(frame(binary, Buffer.concat([Buffer.of(channel), number])));
  inner.on('data', (chunk) => outer.write(frame(binary, Buffer.concat([Buffer.of(0), chunk]))));
  inner.on('error', (error) => outer.write(frame(binary, Buffer.concat([Buffer.of(1), Buffer.from(error.message)]))));
  inner.once('close', () => outer.end(frame(closing, Buffer.alloc(0))));
  outer.on('error', () => undefined); // the close event follows
  outer.once('close', () => inner.destroy());
  let received = Buffer.alloc(0);
  outer.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (let next = parseFrame(received); next; next = parseFrame(received)) {
      received = received.subarray(next.bytes);
      if (next.opcode === closing) inner.end();
      if (next.opcode === ping) outer.write(frame(pong, next.payload));
      if (next.opcode === binary && next.payload[0] === 0) inner.write(next.payload.subarray(1));
    }
  });
}

/** Makes a frame of a server, which is not masked. */
function frame(opcode: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(10);
  header[0] = 0x80 | opcode;
  header[1] = 127;
  header.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([shortest(header, payload.length), payload]);
}

/** Shortens a header to the shortest form of the length, which the protocol demands. */
function shortest(header: Buffer, length: number): Buffer {
  if (length >= 65_536) return header;
  if (length < 126) return Buffer.of(header[0] ?? 0, length);
  return Buffer.of(header[0] ?? 0, 126, length >> 8, length & 255);
}

/** Parses the first frame of a client, which is masked; undefined while it is incomplete. */
function parseFrame(bytes: Buffer): { opcode: number; payload: Buffer; bytes: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const headerLength = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < headerLength + 4) return undefined;
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  const start = headerLength + 4;
  if (bytes.length < start + length) return undefined;
  const mask = bytes.subarray(headerLength, start);
  const payload = Buffer.from(bytes.subarray(start, start + length)).map(
    (byte, index) => byte ^ (mask[index % 4] ?? 0),
  );
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload: Buffer.from(payload), bytes: start + length };
}
