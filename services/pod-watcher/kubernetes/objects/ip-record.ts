/** A `ShownIp` as one text: its fields, separated by slashes. */
import type { RecordFormat } from '../compact-objects.ts';
import { digestLength } from './ip-content.ts';
import { type IpObject, ShownIp } from './ip.ts';

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
