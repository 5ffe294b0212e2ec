/** Applies the changes of a plan to a model of the node's switch, as the database would. */
import type { PresentBridge, PresentUnderlay, UnderlayChange } from '../underlay-plan.ts';

export function applyChanges(present: PresentUnderlay, changes: readonly UnderlayChange[]): PresentUnderlay {
  return changes.reduce(applyChange, present);
}

function applyChange(present: PresentUnderlay, change: UnderlayChange): PresentUnderlay {
  const { bridges } = present;
  const replaced = ({ uuid }: PresentBridge, replace: (bridge: PresentBridge) => PresentBridge[]): PresentUnderlay => ({
    ...present,
    bridges: bridges.flatMap((bridge) => (bridge.uuid === uuid ? replace(bridge) : [bridge])),
  });
  switch (change.kind) {
    case 'add bridge': {
      const { bridge: name, nic } = change;
      const own = { uuid: `port ${name}`, name, isOurs: false };
      const ports = [own, { uuid: `port ${nic}`, name: nic, isOurs: true }];
      return { ...present, bridges: [...bridges, { uuid: `bridge ${name}`, name, isOurs: true, ports }] };
    }
    case 'remove bridge':
      return replaced(change.bridge, () => []);
    case 'add port': {
      const port = { uuid: `port ${change.nic}`, name: change.nic, isOurs: true };
      return replaced(change.bridge, (bridge) => [{ ...bridge, ports: [...bridge.ports, port] }]);
    }
    case 'remove port': {
      const { uuid } = change.port;
      return replaced(change.bridge, (bridge) => [
        { ...bridge, ports: bridge.ports.filter((port) => port.uuid !== uuid) },
      ]);
    }
    case 'set mappings':
      return { ...present, mappings: change.mappings };
  }
}
