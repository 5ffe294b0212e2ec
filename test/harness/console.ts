/** Starts the console as a process, with its pages. */
import { join } from 'node:path';
import { bundleConsole } from '../../build/bundle/bundle-console.ts';
import type { TlsFiles } from '../../lib/tls/credentials.ts';
import { root } from './paths.ts';
import { findFreePort } from './processes/free-ports.ts';
import type { Launch } from './processes/launch.ts';
import { probeHttp } from './processes/readiness-probes.ts';
import { type Server, startServer } from './processes/server.ts';
import type { Run } from './run.ts';
import { launchOf, loopbackOf, tlsVariables } from './services.ts';

interface ConsoleSettings {
  readonly name: string;
  readonly allocator: string;
  readonly readModel: string;
  /** The address for browsers, "host:port". */
  readonly listen: string;
  readonly healthListen: string;
  /** The folder of `bundleConsole`. */
  readonly web: string;
  /** The client certificate. Without it, the console is open: read-only, without sign-in. */
  readonly tls?: TlsFiles | undefined;
  /** Its certificate for browsers (default: `tls`). */
  readonly https?: TlsFiles | undefined;
}

/** The launch of the console. It is ready when its /readyz answers 200. */
function consoleLaunch(settings: ConsoleSettings): Launch {
  const { name, allocator, readModel, listen, healthListen, web, tls, https } = settings;
  return {
    ...launchOf('console', name),
    env: {
      IPLEDGER_ENDPOINT: allocator,
      IPLEDGER_READ_MODEL: readModel,
      IPLEDGER_LISTEN: listen,
      IPLEDGER_HEALTH_LISTEN: healthListen,
      IPLEDGER_CONSOLE_WEB: web,
      IPLEDGER_CONSOLE_RUNBOOKS: join(root, 'docs', 'runbooks.md'),
      ...(tls ? tlsVariables(tls) : { IPLEDGER_CONSOLE_OPEN: '1' }),
      ...(https && { IPLEDGER_HTTPS_CERT: https.cert, IPLEDGER_HTTPS_KEY: https.key }),
    },
    ready: (signal) => probeHttp(`http://${loopbackOf(healthListen)}/readyz`, signal),
  };
}

export interface ConsoleOptions extends Pick<ConsoleSettings, 'tls' | 'https'> {
  readonly allocator: { readonly endpoint: string };
  readonly readModel: { readonly endpoint: string };
}

export interface ConsoleServer extends Server {
  readonly url: string;
  /** "127.0.0.1:<port>" of /livez, /readyz and /metrics. */
  readonly health: string;
}

/** Bundles the pages and starts a console. */
export async function startConsole(run: Run, options: ConsoleOptions): Promise<ConsoleServer> {
  const { allocator, readModel, tls, https } = options;
  const web = join(run.folder, 'console-web');
  await bundleConsole(web);
  const listen = `127.0.0.1:${await findFreePort()}`;
  const healthListen = `127.0.0.1:${await findFreePort()}`;
  const reached = { allocator: allocator.endpoint, readModel: readModel.endpoint, listen, healthListen };
  const server = await startServer(run, consoleLaunch({ name: 'console', web, ...reached, tls, https }));
  return Object.assign(server, { url: `${tls ? 'https' : 'http'}://${listen}`, health: healthListen });
}
