/** Reads the JSON body of a request, within a limit. */
import type { IncomingMessage } from 'node:http';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import { HttpError } from './http-error.ts';

/** The limit of a body. A token of an identity provider has at most 16 KiB. */
export const maxBodyBytes = 20_480;

/** Reads a body. @throws HttpError for another content type, a long body, or no JSON object */
export async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0];
  if (type !== 'application/json') throw new HttpError(415, 'INVALID_REQUEST', 'the body must be application/json');
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return asRecord(JSON.parse(Buffer.concat(chunks).toString()));
  } catch (error) {
    throw new HttpError(400, 'INVALID_REQUEST', `the body is no JSON: ${(error as Error).name}`);
  }
}

const tooLarge = (): HttpError =>
  new HttpError(413, 'INVALID_REQUEST', `the body has more than ${maxBodyBytes} bytes, which is the limit`);
