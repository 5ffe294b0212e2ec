/** An archive in an S3 object store. It sends only PUT and GET of objects, signed by aws4fetch. */
import { AwsClient } from 'aws4fetch';
import { rejectWhenAborted, timeoutSignal } from '../../lib/process/abortable.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { type Archive, damagedFile } from './archive.ts';
import { type CredentialSource, credentialSource } from './aws-credentials.ts';
import { causeOf, readBody } from './http-reply.ts';

const requestTimeoutMs = 60_000;
const retries = 3;
/** The most bytes of an error reply that are read. */
const maxErrorBytes = 4 << 10;

interface S3Options {
  /** "https://host:port"; the bucket is the first part of the path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** '' or "some/prefix". */
  readonly prefix: string;
  readonly region: string;
  readonly credentials: CredentialSource;
  /** The time limit of a request with its body. Default: a minute. */
  readonly timeoutMs?: number;
}

export class S3Archive implements Archive {
  readonly location: string;
  readonly #base: string;
  readonly #region: string;
  readonly #credentials: CredentialSource;
  readonly #timeoutMs: number;

  constructor({ endpoint, bucket, prefix, region, credentials, timeoutMs = requestTimeoutMs }: S3Options) {
    this.#base = [endpoint.replace(/\/+$/, ''), bucket, ...(prefix === '' ? [] : [prefix])].join('/');
    this.#region = region;
    this.#credentials = credentials;
    this.#timeoutMs = timeoutMs;
    this.location = `s3 ${this.#base}`;
  }

  /**
   * @param location "s3://bucket/prefix"
   * @param env the variables of `credentialSource`, AWS_REGION, and IPLEDGER_ARCHIVE_ENDPOINT for a
   * store other than Amazon S3
   * @throws Error for a missing bucket or missing credentials.
   */
  static fromEnvironment(location: string, env: NodeJS.ProcessEnv): S3Archive {
    const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(location) ?? [];
    if (!bucket) throw new Error(`the archive "${location}" has no bucket: write s3://bucket/prefix`);
    const region = env['AWS_REGION'] || 'us-east-1';
    const credentials = credentialSource(env, region);
    if (!credentials)
      throw new Error(
        `the archive "${location}" needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ` +
          'or AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE',
      );
    const endpoint = env['IPLEDGER_ARCHIVE_ENDPOINT'] || `https://s3.${region}.amazonaws.com`;
    return new S3Archive({ endpoint, bucket, prefix, region, credentials });
  }

  async put(name: string, content: Buffer, signal: AbortSignal): Promise<void> {
    await this.#request('PUT', name, signal, {
      body: new Uint8Array(content),
      read: async (reply) => {
        await reply.body?.cancel();
        if (!reply.ok) throw this.#failure('PUT', name, reply);
      },
    });
  }

  /**
   * Does not trust the content-length, which a store may omit or invent. The size is checked after
   * unpacking, because an object may have a content-encoding.
   */
  get(name: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined> {
    return this.#request('GET', name, signal, {
      read: async (reply) => {
        if (reply.ok) {
          if (Number(reply.headers.get('content-length')) <= maxBytes) {
            const content = await readBody(reply, maxBytes + 1);
            if (content.length <= maxBytes) return content;
          } else await reply.body?.cancel();
          throw damagedFile(`${this.#base}/${name}`, `it has more than ${maxBytes} bytes`);
        }
        const text = await readBody(reply, maxErrorBytes);
        // A missing bucket is an error, not a missing object: the configured bucket may be wrong.
        if (reply.status === 404 && !text.includes('<Code>NoSuchBucket</Code>')) return undefined;
        throw this.#failure('GET', name, reply);
      },
    });
  }

  /** Sends a request and reads the reply, both within the time limit. */
  async #request<Result>(
    method: string,
    name: string,
    signal: AbortSignal,
    { body, read }: { readonly body?: Uint8Array<ArrayBuffer>; readonly read: (reply: Response) => Promise<Result> },
  ): Promise<Result> {
    signal.throwIfAborted();
    const url = `${this.#base}/${name}`;
    try {
      const credentials = await rejectWhenAborted(this.#credentials(), signal);
      const client = new AwsClient({ ...credentials, region: this.#region, service: 's3', retries });
      const call = { method, signal: timeoutSignal(this.#timeoutMs, signal), ...(body && { body }) };
      return await read(await client.fetch(url, call));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof IpledgerError) throw error;
      throw new IpledgerError('UNAVAILABLE', `the archive: no answer to ${method} ${url}: ${causeOf(error)}`, {
        cause: error,
      });
    }
  }

  #failure(method: string, name: string, { status, statusText }: Response): IpledgerError {
    return new IpledgerError('UNAVAILABLE', `the archive: ${method} ${this.#base}/${name}: ${status} ${statusText}`);
  }
}
