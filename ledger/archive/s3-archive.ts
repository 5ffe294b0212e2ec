/** An archive in an S3 object store. It uses two requests, PUT and GET of objects, signed by aws4fetch. */
import { AwsClient } from 'aws4fetch';
import { timeoutSignal } from '../../lib/process/abortable.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Archive } from './archive.ts';

const requestTimeoutMs = 60_000;
const retries = 3;
/** All objects of a segment are smaller. The limit protects the memory of the allocator. */
const maxObjectBytes = 512 << 20;

interface S3Options {
  /** "https://host:port"; the bucket is the first part of the path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** '' or "some/prefix". */
  readonly prefix: string;
  readonly client: AwsClient;
}

export class S3Archive implements Archive {
  readonly location: string;
  readonly #base: string;
  readonly #client: AwsClient;

  constructor({ endpoint, bucket, prefix, client }: S3Options) {
    this.#base = [endpoint.replace(/\/+$/, ''), bucket, ...(prefix === '' ? [] : [prefix])].join('/');
    this.#client = client;
    this.location = `s3 ${this.#base}`;
  }

  /**
   * @param location "s3://bucket/prefix"
   * @param env AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION; IPLEDGER_ARCHIVE_ENDPOINT for a store other than Amazon S3.
   * @throws Error for a missing bucket or key.
   */
  static fromEnvironment(location: string, env: NodeJS.ProcessEnv): S3Archive {
    const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(location) ?? [];
    if (!bucket) throw new Error(`the archive "${location}" has no bucket: write s3://bucket/prefix`);
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
    if (!accessKeyId || !secretAccessKey)
      throw new Error(`the archive "${location}" needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
    const region = env['AWS_REGION'] || 'us-east-1';
    const endpoint = env['IPLEDGER_ARCHIVE_ENDPOINT'] || `https://s3.${region}.amazonaws.com`;
    const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries });
    return new S3Archive({ endpoint, bucket, prefix, client });
  }

  async put(name: string, content: Buffer, signal: AbortSignal): Promise<void> {
    const reply = await this.#request('PUT', name, signal, new Uint8Array(content));
    await reply.arrayBuffer();
    if (!reply.ok) throw this.#failure('PUT', name, reply);
  }

  async get(name: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const reply = await this.#request('GET', name, signal);
    if (Number(reply.headers.get('content-length')) > maxObjectBytes) {
      await reply.body?.cancel();
      throw new IpledgerError(
        'LEDGER_DAMAGED',
        `the archive: ${this.#base}/${name} is larger than any file of ipledger. Restore it from a copy`,
      );
    }
    const content = Buffer.from(await reply.arrayBuffer());
    // A missing bucket is an error, not a missing object: the configured bucket may be wrong.
    if (reply.status === 404 && !content.includes('<Code>NoSuchBucket</Code>')) return undefined;
    if (!reply.ok) throw this.#failure('GET', name, reply);
    return content;
  }

  async #request(method: string, name: string, signal: AbortSignal, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    signal.throwIfAborted();
    const url = `${this.#base}/${name}`;
    try {
      const call = { method, signal: timeoutSignal(requestTimeoutMs, signal), ...(body && { body }) };
      return await this.#client.fetch(url, call);
    } catch (error) {
      signal.throwIfAborted();
      throw new IpledgerError('UNAVAILABLE', `the archive: no answer to ${method} ${url}: ${causeOf(error)}`, {
        cause: error,
      });
    }
  }

  #failure(method: string, name: string, { status, statusText }: Response): IpledgerError {
    return new IpledgerError('UNAVAILABLE', `the archive: ${method} ${this.#base}/${name}: ${status} ${statusText}`);
  }
}

/** The message of a fetch error is generic; the reason is in its cause. */
function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
