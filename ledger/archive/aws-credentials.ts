/**
 * AWS credentials from the environment: an access key, or a role that STS grants to a web identity
 * token (IRSA).
 */
import { readFile } from 'node:fs/promises';
import { timeoutSignal } from '../../lib/process/abortable.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { causeOf, readBody } from './http-reply.ts';

/** Credentials with the names of aws4fetch's options. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Returns credentials that are valid now. @throws IpledgerError UNAVAILABLE if STS grants none */
export type CredentialSource = () => Promise<AwsCredentials>;

const stsTimeoutMs = 10_000;
const maxReplyBytes = 64 << 10;
/**
 * Temporary credentials are replaced this long before they expire, because requests take time and
 * clocks differ.
 */
const renewBeforeMs = 5 * 60_000;

/** What a credential has. Other characters cannot be sent in a header. */
const credentialText = /^[!-~]+$/;

/**
 * The source of credentials in the environment, by the variables of the AWS SDKs; undefined for
 * none. An access key takes precedence, as in the SDKs.
 * @throws Error for an access key with a space, a line end or another unprintable character
 */
export function credentialSource(env: NodeJS.ProcessEnv, region: string): CredentialSource | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = env;
  if (accessKeyId && secretAccessKey) {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'])
      if (env[name] && !credentialText.test(env[name]))
        throw new Error(`${name} has a space, a line end or another character that no credential has: remove it`);
    const session = AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {};
    return () => Promise.resolve({ accessKeyId, secretAccessKey, ...session });
  }
  const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile } = env;
  if (!role || !tokenFile) return undefined;
  const sessionName = env['AWS_ROLE_SESSION_NAME'] || 'ipledger';
  const endpoint = env['AWS_ENDPOINT_URL_STS'] || `https://sts.${region}.amazonaws.com`;
  return untilExpiry(() => assumeRole({ role, tokenFile, sessionName, endpoint }));
}

interface TemporaryCredentials {
  readonly credentials: AwsCredentials;
  readonly expiresAt: number;
}

/**
 * Runs `renew` only near the expiry of the last credentials, and only once at a time. The last
 * credentials stay in use while it fails.
 */
function untilExpiry(renew: () => Promise<TemporaryCredentials>): CredentialSource {
  let current: TemporaryCredentials | undefined;
  let renewal: Promise<void> | undefined;
  const remainingMs = (): number => (current?.expiresAt ?? 0) - Date.now();
  return async () => {
    if (remainingMs() < renewBeforeMs) {
      renewal ??= renew()
        .then((renewed) => void (current = renewed))
        .finally(() => (renewal = undefined));
      await renewal.catch((error: unknown) => {
        if (remainingMs() <= 0) throw error;
      });
    }
    if (!current) throw new TypeError('a renewal resolved without credentials');
    return current.credentials;
  };
}

interface Role {
  readonly role: string;
  /** The file of the token. It is read for each call, because kubelet replaces its content. */
  readonly tokenFile: string;
  readonly sessionName: string;
  readonly endpoint: string;
}

/** Calls AssumeRoleWithWebIdentity. The call is not signed, because the token is its credential. */
async function assumeRole({ role, tokenFile, sessionName, endpoint }: Role): Promise<TemporaryCredentials> {
  const failure = (reason: string, cause?: unknown): IpledgerError =>
    new IpledgerError('UNAVAILABLE', `the archive: no credentials for role ${role} from ${endpoint}: ${reason}`, {
      cause,
    });
  const token = await readFile(tokenFile, 'utf8').catch((error: unknown) => {
    throw failure(`AWS_WEB_IDENTITY_TOKEN_FILE cannot be read: ${causeOf(error)}`, error);
  });
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: sessionName,
    WebIdentityToken: token.trim(),
  });
  // A redirect would carry the token to another server.
  const call = { method: 'POST', body, redirect: 'error', signal: timeoutSignal(stsTimeoutMs) } as const;
  const [status, xml] = await fetch(endpoint, call)
    .then(async (reply) => [reply.status, (await readBody(reply, maxReplyBytes)).toString()] as const)
    .catch((error: unknown) => {
      throw failure(causeOf(error), error);
    });
  const element = (name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
  if (status !== 200) throw failure(`${status} ${element('Code')}: ${element('Message')}`);
  const [accessKeyId, secretAccessKey] = [element('AccessKeyId'), element('SecretAccessKey')];
  const expiresAt = Date.parse(element('Expiration'));
  const sessionToken = element('SessionToken');
  const isComplete = [accessKeyId, secretAccessKey, sessionToken].every((text) => credentialText.test(text));
  if (!isComplete || Number.isNaN(expiresAt)) throw failure('the reply has no credentials');
  return { credentials: { accessKeyId, secretAccessKey, sessionToken }, expiresAt };
}
