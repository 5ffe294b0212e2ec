/** A container's interface, which identifies a binding on its node. */
export interface ContainerInterface {
  readonly containerId: string;
  readonly interface: string;
}

/** The key of a container's interface in maps and in the keyed mutex. */
export const interfaceKey = ({ containerId, interface: name }: ContainerInterface): string => `${containerId} ${name}`;
