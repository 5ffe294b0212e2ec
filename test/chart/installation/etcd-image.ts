/**
 * The image of etcd for nodes that cannot pull one: the programs at the paths of the published
 * image, which also has no shell. https://github.com/etcd-io/etcd/blob/v3.7.3/Dockerfile
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ownArchitecture } from '../../../build/architecture.ts';
import { createLayer, formatOciArchive } from '../../../build/oci/oci-archive.ts';
import { tarFile } from '../../../lib/tar/format-tar.ts';
import { findProgram } from '../../harness/programs/find-program.ts';

const programs = ['etcd', 'etcdctl', 'etcdutl'] as const;
const folder = '/usr/local/bin';

/** Writes an OCI archive. @param reference as 'quay.io/coreos/etcd:v3.7.3' */
export async function buildEtcdImage(reference: string, archive: string): Promise<void> {
  const paths = await Promise.all(programs.map((name) => findProgram(name)));
  const files = paths.map((path, index) => tarFile(`${folder}/${programs[index]}`, readFileSync(path), 0o755));
  const layers = [createLayer('etcd', files, 0)];
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const config = { Cmd: [`${folder}/etcd`], Env: [`PATH=${path}`] };
  const image = formatOciArchive({ reference, createdAt: 0 }, [{ architecture: ownArchitecture, layers, config }]);
  writeFileSync(archive, image.archive);
}
