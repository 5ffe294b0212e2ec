/** The connections of the etcd client package. They are reached by members that its types hide. */
import type { ChannelCredentials, ChannelOptions, Client, Metadata } from '@grpc/grpc-js';
import { EtcdInvalidAuthTokenError, type Etcd3, type IOptions } from 'etcd3';
import { rejectWhenAborted } from '../../../lib/process/abortable.ts';
import type { ClusterHealth } from './cluster-health.ts';

type FaultPolicy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;
type Service = 'KV' | 'Lease' | 'Watch';

/** A member of etcd, with a connection for each service. */
export interface EtcdHost {
  /** "host:port" */
  readonly host: string;
  readonly closed: boolean;
  readonly faultHandling: CallOnce;
  channelCredentials: ChannelCredentials;
  channelOptions: ChannelOptions;
  getServiceClient(service: Service): Client;
  /** Closes the connections. The next call opens new ones. */
  resetAllServices(): void;
}

interface ConnectionPool {
  readonly hosts: readonly EtcdHost[];
  readonly authenticator: {
    credentials: ChannelCredentials;
    getMetadata(): Promise<Metadata>;
    invalidateMetadata(): void;
  };
  /** The hosts in the order in which a call tries them, repeated endlessly. */
  shuffledHosts(): Generator<EtcdHost, never>;
  /** Runs the function with the first host of `order`. */
  withConnection<Result>(
    service: Service,
    run: (connection: {
      readonly resource: EtcdHost;
      readonly client: Client;
      readonly metadata: Metadata;
    }) => Promise<Result> | Result,
    order?: Generator<EtcdHost, never>,
  ): Promise<Result>;
}

export const poolOf = (client: Etcd3): ConnectionPool => (client as unknown as { readonly pool: ConnectionPool }).pool;

/** Calls a member once, and ends the call when the member stops answering. */
export class CallOnce implements Pick<FaultPolicy, 'execute'> {
  readonly #health: ClusterHealth | undefined;
  readonly #index: number;

  constructor(health?: ClusterHealth, index = 0) {
    this.#health = health;
    this.#index = index;
  }

  /** Aborted while the member does not answer. */
  get lost(): AbortSignal {
    return this.#health?.lost(this.#index) ?? never;
  }

  execute: FaultPolicy['execute'] = async (call, signal = never) => {
    const ends = this.#health?.callEnds(this.#index) ?? [];
    return ends.reduce(rejectWhenAborted, Promise.resolve(call({ signal })));
  };

  asPolicy(): FaultPolicy {
    return this as unknown as FaultPolicy;
  }
}

const never = new AbortController().signal;

/** Repeats a call with a new token if etcd rejects the token: it has not executed the call. */
export async function withValidToken<Result>(client: Etcd3, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof EtcdInvalidAuthTokenError)) throw error;
    poolOf(client).authenticator.invalidateMetadata();
    return run();
  }
}
