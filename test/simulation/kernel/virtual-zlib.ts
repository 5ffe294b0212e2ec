/**
 * Streams of zlib that compress in the turn of their caller: Node uses threads, whose order is not
 * repeatable.
 */
import { Gzip, Gunzip, gunzipSync, gzipSync } from 'node:zlib';
import { running } from './program-clock.ts';

type Done = (error?: Error | null, content?: Buffer) => void;

interface ZlibStream {
  push(chunk: Buffer): void;
  _transform(chunk: Buffer, encoding: string, done: Done): void;
  _flush(done: Done): void;
}

/** Replaces the transformation inside of programs. Returns a function that puts it back. */
export function patchZlib(): () => void {
  const prototype = Object.getPrototypeOf(Gzip.prototype) as ZlibStream;
  const base = Object.getPrototypeOf(prototype) as ZlibStream;
  const { _transform: transform, _flush: flush } = base;
  const chunks = new WeakMap<object, Buffer[]>();
  base._transform = function (chunk, encoding, done) {
    if (!running.getStore()) return transform.call(this, chunk, encoding, done);
    const before = chunks.get(this);
    if (before) before.push(chunk);
    else chunks.set(this, [chunk]);
    done();
  };
  base._flush = function (done) {
    if (!running.getStore()) return flush.call(this, done);
    try {
      const content = Buffer.concat(chunks.get(this) ?? []);
      this.push(this instanceof Gzip ? gzipSync(content) : this instanceof Gunzip ? gunzipSync(content) : content);
      done();
    } catch (error) {
      done(error as Error);
    }
  };
  return () => {
    base._transform = transform;
    base._flush = flush;
  };
}
