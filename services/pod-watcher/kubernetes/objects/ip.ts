/** IP object: shows one allocation, or reserves an address. */
import { allocationAnnotation } from '../../../../lib/kubernetes/kubernetes-metadata.ts';
import { asRecord, asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { ipLimits } from '../../limits.ts';
import type { ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { type CustomResource, customResourceOf, noFinalizers } from './custom-resource.ts';
import { type IpContent, shownAllocationOf, shownDigest, digestLength } from './ip-content.ts';
import { SpecReader } from './spec-reader.ts';
import type { RecordFormat } from '../compact-objects.ts';

export interface IpObject extends CustomResource {
  /** The sequence number of the allocation; "" if pod-watcher did not write this object. */
  readonly allocation: string;
  /** The labels and spec; undefined for a `ShownIp`, which has a digest of them. */
  readonly content: IpContent | undefined;
}

export const ips: ResourceKind<IpObject> = {
  path: '/apis/kubeovn.io/v1/ips',
  parse: (raw) => {
    const { metadata, spec } = asRecord(raw);
    const meta = asRecord(metadata);
    const reader = new SpecReader(asRecord(spec));
    const boundedSpec = reader.bounded(ipLimits.specLength);
    reader.text('ipAddress', ipLimits.addressesLength);
    const object = {
      ...customResourceOf(meta, undefined),
      allocation: asText(asRecord(meta['annotations'])[allocationAnnotation]),
      content: { labels: asRecord(meta['labels']), spec: boundedSpec },
      problems: reader.problems,
    };
    return ShownIp.from(object) ?? object;
  },
};

const nothing: UntypedJson = Object.freeze({});

type ShownFields = Pick<ShownIp, 'name' | 'uid' | 'resourceVersion' | 'allocation' | 'digest' | 'node'>;

/**
 * An IP object of the watcher that shows an allocation completely, as nearly all do. It has a
 * digest in place of labels and spec, so that a large cluster fits in memory. An edited object
 * arrives complete, and then is not a `ShownIp` or has another digest.
 */
export class ShownIp implements IpObject {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly allocation: string;
  /** The digest (`shownDigest`) of the allocation that labels and spec show. */
  readonly digest: string;
  /** The Node that labels and spec show. */
  readonly node: string;

  /** Converts an object; undefined for a reservation, or a deleted or edited object. */
  static from(object: IpObject): ShownIp | undefined {
    const { namespace, allocation, content, deleting, finalizers, problems } = object;
    const isOwn = allocation !== '' && finalizers.length === 0 && !deleting && namespace === '';
    if (!isOwn || !content || problems.length > 0) return undefined;
    const shown = shownAllocationOf(content);
    return shown && new ShownIp({ ...object, digest: shownDigest(shown), node: shown.node });
  }

  constructor({ name, uid, resourceVersion, allocation, digest, node }: ShownFields) {
    this.name = name;
    this.uid = uid;
    this.resourceVersion = resourceVersion;
    this.allocation = allocation;
    this.digest = digest;
    this.node = node;
  }

  get namespace(): string {
    return '';
  }

  /** The generation, which only reservations use: always 0. */
  get generation(): number {
    return 0;
  }

  get deleting(): boolean {
    return false;
  }

  get finalizers(): readonly string[] {
    return noFinalizers;
  }

  get status(): UntypedJson {
    return nothing;
  }

  get problems(): readonly string[] {
    return noFinalizers;
  }

  get content(): undefined {
    return undefined;
  }
}

/** Stores a `ShownIp` as one text: its fields, separated by slashes. */
export const ipRecords: RecordFormat<IpObject, IpObject | string> = {
  store(object) {
    if (!(object instanceof ShownIp)) return object;
    const { uid, resourceVersion, allocation, node, digest } = object;
    const fields = [uid, resourceVersion, allocation, node];
    return fields.some((each) => each.includes('/')) ? object : [...fields, digest].join('/');
  },

  restore(stored, name) {
    if (typeof stored !== 'string') return stored;
    const [uid = '', resourceVersion = '', allocation = '', node = ''] = stored.split('/', 4);
    return new ShownIp({ name, uid, resourceVersion, allocation, node, digest: stored.slice(-digestLength) });
  },
};
