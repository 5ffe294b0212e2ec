/** Serves the files of the front end, which are read once, at the start. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { HttpError } from '../http/http-error.ts';

/** The types of served files. Files of other types are not served. */
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.map': 'application/json',
  '.ico': 'image/x-icon',
  '.webmanifest': 'application/manifest+json',
};

interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly zipped: Buffer;
  readonly tag: string;
}

export type ServeFile = (request: IncomingMessage, response: ServerResponse, path: string) => void;

/** The page of the console, for every address of a view. */
const page = '/index.html';

/** @throws Error without a page */
export function staticFiles(folder: string): ServeFile {
  const files = new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      const type = types[extname(entry.name)];
      return entry.isFile() && type !== undefined
        ? [[`/${relative(folder, path).split(sep).join('/')}`, readFile(path, type)]]
        : [];
    }),
  );
  if (!files.has(page)) throw new Error(`${folder} has no ${page}: build the console`);
  return (request, response, path) => {
    const { method, headers } = request;
    if (method !== 'GET' && method !== 'HEAD') throw new HttpError(405, 'INVALID_REQUEST', 'use GET');
    // The path of a view may have dots, as that of an address; a file is at the top
    const isFile = /^\/[^/]*\.[^/]*$/.test(path);
    const file = files.get(path) ?? (isFile ? undefined : files.get(page));
    if (!file) throw new HttpError(404, 'INVALID_REQUEST', 'the console has no such file');
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', file.tag);
    response.setHeader('Vary', 'Accept-Encoding');
    if (headers['if-none-match'] === file.tag) {
      response.writeHead(304).end();
      return;
    }
    const isZipped = /\bgzip\b/.test(headers['accept-encoding']?.toString() ?? '');
    if (isZipped) response.setHeader('Content-Encoding', 'gzip');
    const bytes = isZipped ? file.zipped : file.bytes;
    response.writeHead(200, { 'Content-Type': file.type, 'Content-Length': bytes.length });
    response.end(method === 'HEAD' ? undefined : bytes);
  };
}

function readFile(path: string, type: string): StaticFile {
  const bytes = readFileSync(path);
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { type, bytes, zipped: gzipSync(bytes), tag };
}
