/** Reads the newest log lines of ipledger's programs, also of the container that ended before. */
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import type { Facts } from '../../installation/facts.ts';

const logMaxBytes = 4 << 20;
/** The limit for each kind of program: a cluster has thousands of agents. */
const maxPods = 20;

type NamedRead = readonly [path: string, read: () => Promise<string>];

/** Programs that are not ready come first. */
export function readLogs(kubernetes: Pick<KubernetesClient, 'readText'>, facts: Facts, lines: number): NamedRead[] {
  if (lines === 0) return [];
  const byComponent = Map.groupBy(facts.programs ?? [], ({ component }) => component);
  const chosen = [...byComponent.values()].flatMap((programs) =>
    programs.toSorted((one, other) => Number(one.isReady) - Number(other.isReady)).slice(0, maxPods),
  );
  return chosen
    .filter(({ node }) => node !== '')
    .flatMap(({ component, name }) => {
      const query = { container: component, tailLines: String(lines), limitBytes: String(logMaxBytes) };
      const path = `/api/v1/namespaces/${facts.namespace}/pods/${name}/log?${new URLSearchParams(query)}`;
      const file = `logs/${component}/${name.slice(0, 80)}`;
      return [
        [`${file}.log`, () => kubernetes.readText(path)],
        // The API server answers 400 if there was no earlier container
        [`${file}.previous.log`, () => kubernetes.readText(`${path}&previous=true`).catch(() => '')],
      ] as const;
    });
}
